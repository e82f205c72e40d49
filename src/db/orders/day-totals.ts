import { toIsoTime } from '../../time';
import { exactSum } from '../columns';
import { queryRows, type Database } from '../query';

/** The sums of one currency, in minor units; null where a number does not hold one exactly (rules 26.9). */
export interface DayTotals {
  currency: string;
  orders: number;
  accepted_amount: number | null;
  refunded_amount: number | null;
  charged_back_amount: number | null;
  settled_amount: number | null;
  fee_amount: number | null;
}

type Row = Pick<DayTotals, 'currency' | 'orders'> & Record<Exclude<keyof DayTotals, 'currency' | 'orders'>, string>;

/** The sums of a project's orders that were created in a period, by currency. Instants in epoch milliseconds. */
export async function dayTotals(
  db: Database,
  { project_id, since, until }: { project_id: string; since: number; until: number },
): Promise<DayTotals[]> {
  const accepted = (kind: string) =>
    exactSum(`case when v.is_money and o.kind = '${kind}' and t.status = 'accepted' then t.amount end`);
  const rows = await queryRows<Row>(
    db,
    `select v.currency,
       count(distinct o.id) filter (where v.is_money and o.kind = 'payment')::int as orders,
       ${accepted('payment')} as accepted_amount, ${accepted('refund')} as refunded_amount,
       ${accepted('chargeback')} as charged_back_amount,
       ${exactSum('v.settled')} as settled_amount, ${exactSum('v.fee')} as fee_amount
     from orders o
       -- With offset each order's are looked up; a hash join would read the transactions of all orders.
       left join lateral (select * from transactions where order_id = o.id offset 0) t on true
       cross join lateral (values
         (o.currency, true, 0, 0),
         (t.settlement_currency, false,
          case t.credit_debit when 'debit' then -t.settlement_amount else t.settlement_amount end, 0),
         (t.fee_currency, false, 0, t.fee_amount)
       ) v (currency, is_money, settled, fee)
     where o.project_id = :project_id and o.created >= :since and o.created < :until and v.currency is not null
     group by v.currency order by v.currency`,
    { project_id, since: toIsoTime(since), until: toIsoTime(until) },
  );
  return rows.map((row) => ({
    currency: row.currency,
    orders: row.orders,
    accepted_amount: exactNumber(row.accepted_amount),
    refunded_amount: exactNumber(row.refunded_amount),
    charged_back_amount: exactNumber(row.charged_back_amount),
    settled_amount: exactNumber(row.settled_amount),
    fee_amount: exactNumber(row.fee_amount),
  }));
}

function exactNumber(digits: string): number | null {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : null;
}
