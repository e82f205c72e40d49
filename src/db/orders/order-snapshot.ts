import { reservedAmount, type Reservation } from '../../domain/amounts';
import type { OrderSnapshot, TransactionSnapshot } from '../../domain/order-snapshot';
import { epochMsSql, fieldsAs, jsonOf, objectOf, type RowOf } from '../columns';
import { prepared, queryRows, required, type Database } from '../query';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';
import { IS_SET_BY_HAND } from './transactions';

/** What an authorization holds, as columns of its transaction. */
type CaptureRow = Reservation & RowOf<Pick<Capture, 'capture_period' | 'capture_ends_at' | 'freed'>>;
type Capture = NonNullable<TransactionSnapshot['capture']>;
type TransactionRow = RowOf<Omit<TransactionSnapshot, 'capture'>> & { capture: CaptureRow | null };
type OrderRow = RowOf<Omit<OrderSnapshot, 'transactions'>> & { transactions: TransactionRow[] };

/**
 * The amount of merchants' voids of a delayed authorization that the processor refused after the capture window had
 * ended. It is released, not captured (rules 8.8). Of transaction `t`, in minor units.
 */
const FREED_AMOUNT = `(
  select coalesce(sum(f.amount), 0)
  from transactions f join orders fo on fo.id = f.order_id join transaction_events e on e.transaction_id = f.id
  where t.capture_mode = 'delayed' and t.status = 'accepted' and f.original_transaction_id = t.id
    and fo.related_order_id = t.order_id and fo.kind = 'void' and fo.requested_by = 'merchant'
    and e.event = 'error' and e.noticed >= t.capture_ends_at
)`;

/** The fields of CaptureRow in SQL, of transaction `t`. */
const CAPTURE_FIELDS = {
  status: 't.status',
  amount: 't.amount',
  capture_mode: 't.capture_mode',
  capture_period: 't.capture_period',
  capture_ends_at: epochMsSql('t.capture_ends_at'),
  captured_amount: 't.captured_amount',
  voided_amount: 't.voided_amount',
  capture_pending_amount: 't.capture_pending_amount',
  void_pending_amount: 't.void_pending_amount',
  freed: FREED_AMOUNT,
} satisfies Record<keyof CaptureRow, string>;

/** The end of the time for paying, in SQL; follow-up orders never expire. */
const expiresAt = (table: string) => `coalesce(${epochMsSql(`${table}.expires_at`)}, ${Number.MAX_SAFE_INTEGER})`;

/** The fields of TransactionRow in SQL, of transaction `t`. */
const TRANSACTION_FIELDS = {
  id: 't.id',
  attempt: 't.attempt',
  status: 't.status',
  charge_began: 'nullif(t.charge_began, false)',
  outcome_set_by_hand: `nullif(${IS_SET_BY_HAND}, false)`,
  expires_at: expiresAt('t'),
  poll_at: epochMsSql('t.poll_at'),
  polls: 'nullif(t.polls, 0)',
  late_poll_at: `(select ${epochMsSql('w.poll_at')} from late_approval_watches w where w.transaction_id = t.id)`,
  answered: `case when t.answered_currency is not null
    then json_build_object('amount', t.answered_amount, 'currency', t.answered_currency) end`,
  charged_back: 'nullif(t.charged_back_amount - t.won_back_amount, 0)',
  capture: `case when t.capture_mode is not null then ${jsonOf(CAPTURE_FIELDS)} end`,
} satisfies Record<keyof TransactionRow, string>;

/** The fields of OrderRow in SQL, of order `o`. */
const ORDER_FIELDS = {
  id: 'o.id',
  project_id: 'o.project_id',
  status: 'o.status',
  version: 'o.version',
  amount: 'o.amount',
  currency: 'o.currency',
  attempts_max: 'o.attempts_max',
  charged_by: 'o.charged_by',
  ended: 'o.ended',
  expires_at: expiresAt('o'),
  attention: 'o.attention',
  clock_offset_ms: CLOCK_OFFSET,
  payment_link: `(
    select json_build_object('id', l.id, 'expires_at', ${epochMsSql('l.expires_at')})
    from payment_links l where l.id = o.related_payment_link_id)`,
  transactions: `coalesce((
    select json_agg(${jsonOf(TRANSACTION_FIELDS)} order by t.attempt)
    from transactions t where t.order_id = o.id), '[]'::json)`,
  closings: `(
    select json_agg(json_build_object('id', f.id, 'kind', f.kind, 'status', f.status, 'amount', f.amount)
                    order by f.created, f.id)
    from orders f
    where f.related_order_id = o.id and f.kind in ('capture', 'void') and f.requested_by = 'service')`,
  deliveries: `array(
    select d.n from webhook_deliveries d where d.order_id = o.id and d.status = 'new' order by d.n)`,
} satisfies Record<keyof OrderRow, string>;

const SELECT = `select ${fieldsAs(ORDER_FIELDS)} from orders o`;

const selectOrder = prepared<OrderRow>('find order', `${SELECT} where o.id = :order_id`);

/** The order as decisions need it; `undefined` when there is none. */
export async function findOrderSnapshot(db: Database, order_id: string): Promise<OrderSnapshot | undefined> {
  const [row] = await selectOrder(db, { order_id });
  return row && snapshotOf(row);
}

/** Like findOrderSnapshot, for several orders at once: by id, without those that do not exist. */
export async function findOrderSnapshots(
  db: Database,
  order_ids: readonly string[],
): Promise<ReadonlyMap<string, OrderSnapshot>> {
  const rows = await queryRows<OrderRow>(db, `${SELECT} where o.id = any(:order_ids::uuid[])`, { order_ids });
  return new Map(rows.map((row) => [row.id, snapshotOf(row)]));
}

/** Like findOrderSnapshot, for an order that must exist: throws RecordMissing when it does not. */
export async function loadOrderSnapshot(db: Database, order_id: string): Promise<OrderSnapshot> {
  return required(await findOrderSnapshot(db, order_id), `order ${order_id}`);
}

function snapshotOf({ transactions, ...order }: OrderRow): OrderSnapshot {
  // Null is the value of charged_by for a follow-up order.
  const { charged_by } = order;
  return {
    ...objectOf<Omit<OrderSnapshot, 'transactions'>>(order),
    charged_by,
    transactions: transactions.map(transactionOf),
  };
}

function transactionOf({ capture, ...transaction }: TransactionRow): TransactionSnapshot {
  return {
    ...objectOf<Omit<TransactionSnapshot, 'capture'>>(transaction),
    ...(capture && { capture: captureOf(capture) }),
  };
}

function captureOf(row: CaptureRow): Capture {
  const { capture_mode, capture_period, capture_ends_at, freed } = row;
  return {
    capture_mode: capture_mode!,
    capture_period,
    ...(capture_ends_at !== null && { capture_ends_at }),
    reserved: reservedAmount(row),
    unanswered: row.capture_pending_amount + row.void_pending_amount,
    freed,
  };
}
