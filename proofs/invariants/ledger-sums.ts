import { queryColumn, queryRows } from '../../src/db/query';
import type { Invariant } from './invariant';

type Sum = { what: string; currency: string; amount: number };

/** Of the payments that were approved, and of the orders that followed them. */
const RECORDED = `
  select what, currency, sum(amount)::bigint as amount from (
    select case when t.capture_mode is null then 'sale' else 'authorize' end as what, t.currency, t.amount
    from transactions t
    where t.original_transaction_id is null and (
      exists (select 1 from transaction_events e where e.transaction_id = t.id and e.event = 'accepted')
      or exists (
        select 1 from transactions r join orders o on o.id = r.order_id
        where r.original_transaction_id = t.id and o.kind = 'reversal' and o.status = 'completed'
          and r.credit_debit = 'debit'))
    union all
    select case when o.kind = 'reversal' and t.credit_debit = 'credit' then 'chargeback_reversal' else o.kind end,
           t.currency, t.amount
    from orders o join transactions t on t.order_id = o.id where o.kind <> 'payment' and o.status = 'completed'
  ) moved group by what, currency`;

const BOOKED = `
  select operation as what, currency, sum(amount)::bigint as amount from operations
  where result = 'approved' and project_id = any(:projects::uuid[]) group by operation, currency`;

export const ledgerSums: Invariant = {
  name: 'ledger-sums',
  title: "The sums of the record equal those of the processor's ledger, by operation and currency, to the cent.",
  eventual: true,
  async violations({ record, processor }) {
    const projects = await queryColumn<string>(record, 'select id from projects');
    const sums = async (rows: Promise<Sum[]>) =>
      new Map((await rows).map(({ what, currency, amount }) => [`${what} ${currency}`, amount]));
    const recorded = await sums(queryRows(record, RECORDED));
    const booked = await sums(queryRows(processor, BOOKED, { projects }));
    return [...new Set([...recorded.keys(), ...booked.keys()])].flatMap((what) => {
      const [here, there] = [recorded.get(what) ?? 0, booked.get(what) ?? 0];
      return here === there ? [] : [`${what}: ${here} in the record, ${there} in the ledger`];
    });
  },
};
