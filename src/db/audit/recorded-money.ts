import type { RecordedOrder, RecordedTransaction } from '../../domain/audit';
import type { TimeSpan } from '../../domain/period';
import { OPEN_ORDER_STATUSES } from '../../domain/transitions';
import { toIsoTime } from '../../time';
import { epochMsSql, fieldsAs, jsonOf, exactSum } from '../columns';
import { queryRows, sqlList, type Database } from '../query';
import { IS_APPROVED, MAY_BE_CHARGED, IS_SET_BY_HAND } from '../orders/transactions';
import { readPart, type PagePosition } from '../pages';

/** The money of the record as the audit compares it with the processor's (rules 26.3). Reads only. */

const TRANSACTION: Record<keyof RecordedTransaction, string> = {
  transaction_id: 't.id',
  kind: 'o.kind',
  original_transaction_id: 't.original_transaction_id',
  amount: 't.amount',
  currency: 't.currency',
  status: 't.status',
  is_approved: IS_APPROVED,
  is_set_by_hand: IS_SET_BY_HAND,
  capture_mode: 't.capture_mode',
  captured_amount: 't.captured_amount',
  voided_amount: 't.voided_amount',
  refunded_amount: 't.refunded_amount',
  charged_back_amount: 't.charged_back_amount',
  won_back_amount: 't.won_back_amount',
  pending_amount: 't.capture_pending_amount + t.void_pending_amount + t.refund_pending_amount',
  settlement_currency: 't.settlement_currency',
  settlement_amount: 't.settlement_amount',
  fee_amount: 't.fee_amount',
  fee_currency: 't.fee_currency',
  settlement_waits_since: `(select ${epochMsSql('min(s.fetched)')} from open_settlements s where s.transaction_id = t.id)`,
};

/** The clock of an order is ahead of real time. */
const IS_AHEAD = 'exists (select 1 from sandbox_clocks c where c.id = p.clock_id and c.offset_ms > 0)';

const ORDER: Record<keyof RecordedOrder, string> = {
  order_id: 'p.id',
  project_id: 'p.project_id',
  modified: `case when ${IS_AHEAD} then 0 else greatest(${epochMsSql('p.modified')}, coalesce((
      select max(${epochMsSql('f.modified')}) from orders f where f.related_order_id = p.id), 0)) end`,
  is_being_polled: `exists (select 1 from announced_operations a where a.original_order_id = p.id)
      or exists (select 1 from late_approval_watches w join transactions t on t.id = w.transaction_id
        join orders o on o.id = t.order_id where o.id = p.id or o.related_order_id = p.id)`,
  transactions: `(
      select coalesce(json_agg(${jsonOf(TRANSACTION)} order by o.id, t.attempt), '[]')
      from (select id, kind from orders where id = p.id union all select id, kind from orders where related_order_id = p.id) o
        join transactions t on t.order_id = o.id)`,
};

/** Orders that one statement reads: it ends far within its time limit. */
const BATCH = 250;

/** Payment orders with the orders that follow them; those that the record does not have are left out. */
export async function recordedOrders(db: Database, order_ids: readonly string[]): Promise<RecordedOrder[]> {
  const found: RecordedOrder[] = [];
  for (let n = 0; n < order_ids.length; n += BATCH) {
    const sql = `select ${fieldsAs(ORDER)} from orders p where p.id = any(:batch::uuid[])`;
    found.push(...(await queryRows<RecordedOrder>(db, sql, { batch: order_ids.slice(n, n + BATCH) })));
  }
  return found;
}

/** A slice of a list of orders. */
export interface OrderSlice {
  /** The payment orders of its orders. */
  order_ids: string[];
  /** Its orders, of any kind. */
  listed: string[];
  /** Where the next slice begins; absent on the last one. */
  position?: PagePosition;
}

const SLICED = {
  key: [
    ['modified', 'timestamptz'],
    ['id', 'uuid'],
  ],
  direction: 'asc',
} as const;
const OPEN = sqlList(OPEN_ORDER_STATUSES);

/** The payment orders of closed orders of any kind that changed in a period, by their last change. */
export async function changedOrders(db: Database, { since, until }: TimeSpan, part: SlicePart): Promise<OrderSlice> {
  return await sliceOf(db, part, {
    select: `select o.id, o.modified, coalesce(o.related_order_id, o.id) as payment_id from orders o
        where o.status not in ${OPEN} and o.modified >= :since and o.modified < :until`,
    bindings: { since: toIsoTime(since), until: toIsoTime(until) },
    ...SLICED,
  });
}

/**
 * The payment orders of open orders whose charge or operation began before an instant, and those of which a settlement
 * waits that was fetched before another one.
 */
export async function findOpenOrders(
  db: Database,
  { before, fetched_before }: { before: number; fetched_before: number },
  part: SlicePart,
): Promise<OrderSlice> {
  return await sliceOf(db, part, {
    select: `select o.id, o.modified, coalesce(o.related_order_id, o.id) as payment_id from orders o
        where (o.kind <> 'payment' and o.status in ${OPEN} and o.modified < :before)
          or (o.kind = 'payment' and o.status in ${OPEN} and o.modified < :before and exists (
            select 1 from transactions t where t.order_id = o.id and ${MAY_BE_CHARGED}))
        union
        select o.id, o.modified, coalesce(o.related_order_id, o.id) from open_settlements s
        join transactions t on t.id = s.transaction_id join orders o on o.id = t.order_id
        where s.fetched < :fetched_before`,
    bindings: { before: toIsoTime(before), fetched_before: toIsoTime(fetched_before) },
    ...SLICED,
  });
}

/** The payment orders of transactions that were approved in a period, by order. */
export async function approvedOrders(db: Database, { since, until }: TimeSpan, part: SlicePart): Promise<OrderSlice> {
  return await sliceOf(db, part, {
    select: `select distinct o.id, coalesce(o.related_order_id, o.id) as payment_id
        from transaction_events e join transactions t on t.id = e.transaction_id join orders o on o.id = t.order_id
        where e.event = 'accepted' and e.occurred >= :since and e.occurred < :until`,
    bindings: { since: toIsoTime(since), until: toIsoTime(until) },
    key: [['id', 'uuid']],
    direction: 'asc',
  });
}

interface SlicePart {
  rows: number;
  after: PagePosition | undefined;
}

async function sliceOf(
  db: Database,
  { rows, after }: SlicePart,
  list: Parameters<typeof readPart>[1],
): Promise<OrderSlice> {
  const part = await readPart<{ id: string; payment_id: string }>(db, list, { rows }, after);
  return {
    order_ids: [...new Set(part.rows.map(({ payment_id }) => payment_id))],
    listed: part.rows.map(({ id }) => id),
    ...(!part.is_last && part.end && { position: part.end }),
  };
}

/** The amounts of one kind of operation in a project, currency and period, as the processor reports them. */
export interface RecordedTotal {
  project_id: string;
  operation: string;
  currency: string;
  amount: bigint;
  settlement_amount: bigint;
  fee_amount: bigint;
}

type TotalRow = { [Name in keyof RecordedTotal]: string };

/**
 * The totals of a period by project, operation and currency, by the instants of the processor. Outcomes that an
 * operator has set are left out, and test projects in which a clock was advanced: their instants are not real.
 */
export async function recordedTotals(db: Database, { since, until }: TimeSpan): Promise<RecordedTotal[]> {
  const rows = await queryRows<TotalRow>(
    db,
    `select o.project_id, case
         when o.kind = 'payment' and (t.capture_mode is not null or t.amount = 0) then 'authorize'
         when o.kind = 'payment' then 'sale'
         when o.kind = 'reversal' and t.credit_debit = 'credit' then 'chargeback_reversal' else o.kind end as operation,
       t.currency, ${exactSum('t.amount')} as amount, ${exactSum('t.settlement_amount')} as settlement_amount,
       ${exactSum('t.fee_amount')} as fee_amount
     from transaction_events e join transactions t on t.id = e.transaction_id join orders o on o.id = t.order_id
     where e.event = 'accepted' and e.source <> 'operator' and e.occurred >= :since and e.occurred < :until
       and not exists (select 1 from sandbox_clocks c where c.project_id = o.project_id and c.offset_ms > 0)
     group by 1, 2, 3`,
    { since: toIsoTime(since), until: toIsoTime(until) },
  );
  return rows.map(({ amount, settlement_amount, fee_amount, ...of }) => ({
    ...of,
    amount: BigInt(amount),
    settlement_amount: BigInt(settlement_amount),
    fee_amount: BigInt(fee_amount),
  }));
}

/** Of some projects those that the record has; `is_ahead`: a clock of the project was advanced. */
export async function auditedProjects(
  db: Database,
  project_ids: readonly string[],
): Promise<{ id: string; is_ahead: boolean }[]> {
  return await queryRows(
    db,
    `select p.id, exists (select 1 from sandbox_clocks c where c.project_id = p.id and c.offset_ms > 0) as is_ahead
     from projects p where p.id = any(:project_ids::uuid[])`,
    { project_ids },
  );
}
