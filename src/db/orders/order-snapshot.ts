import { reservedAmount, type CaptureMode, type Reservation } from '../../domain/amounts';
import type { OrderSnapshot, TransactionSnapshot } from '../../domain/order-snapshot';
import { fieldsAs, jsonOf } from '../columns';
import { RecordMissing, prepared, type Database } from '../connection';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';

/** A row as the database returns it: instants as texts, absent values as null. */
interface OrderRow extends Omit<
  OrderSnapshot,
  'expires_at' | 'transactions' | 'ended' | 'payment_link' | 'closings' | 'attention'
> {
  payment_link: { id: string; expires_at: string } | null;
  ended: OrderSnapshot['ended'] | null;
  expires_at: string | null;
  transactions: TransactionRow[] | null;
  closings: NonNullable<OrderSnapshot['closings']> | null;
  attention: string | null;
}

interface TransactionRow extends Reservation {
  id: string;
  charge_began: boolean;
  outcome_set_by_hand: boolean;
  attempt: number;
  expires_at: string | null;
  poll_at: string | null;
  late_poll_at: string | null;
  polls: number;
  answered_amount: number | null;
  answered_currency: string | null;
  capture_period: string;
  capture_ends_at: string | null;
  freed: number;
}

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

/** The fields of TransactionRow in SQL, of transaction `t`. */
const TRANSACTION_FIELDS = {
  id: 't.id',
  attempt: 't.attempt',
  status: 't.status',
  charge_began: 't.charge_began',
  outcome_set_by_hand: `exists (
    select 1 from transaction_events e where e.transaction_id = t.id and e.source = 'operator')`,
  expires_at: 't.expires_at',
  poll_at: 't.poll_at',
  polls: 't.polls',
  late_poll_at: '(select w.poll_at from late_approval_watches w where w.transaction_id = t.id)',
  answered_amount: 't.answered_amount',
  answered_currency: 't.answered_currency',
  amount: 't.amount',
  capture_mode: 't.capture_mode',
  capture_period: 't.capture_period',
  capture_ends_at: 't.capture_ends_at',
  captured_amount: 't.captured_amount',
  voided_amount: 't.voided_amount',
  capture_pending_amount: 't.capture_pending_amount',
  void_pending_amount: 't.void_pending_amount',
  freed: FREED_AMOUNT,
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
  expires_at: 'o.expires_at',
  attention: 'o.attention',
  clock_offset_ms: CLOCK_OFFSET,
  payment_link: `(
    select json_build_object('id', l.id, 'expires_at', l.expires_at)
    from payment_links l where l.id = o.related_payment_link_id)`,
  transactions: `(
    select json_agg(${jsonOf(TRANSACTION_FIELDS)} order by t.attempt) from transactions t where t.order_id = o.id)`,
  closings: `(
    select json_agg(json_build_object('id', f.id, 'kind', f.kind, 'status', f.status, 'amount', f.amount)
                    order by f.created, f.id)
    from orders f
    where f.related_order_id = o.id and f.kind in ('capture', 'void') and f.requested_by = 'service')`,
  deliveries: `array(
    select d.n from webhook_deliveries d where d.order_id = o.id and d.status = 'new' order by d.n)`,
} satisfies Record<keyof OrderRow, string>;

const selectOrder = prepared<OrderRow>(
  'find order',
  `select ${fieldsAs(ORDER_FIELDS)} from orders o where o.id = :order_id`,
);

/** The order as decisions need it; `undefined` when there is none. */
export async function findOrderSnapshot(db: Database, order_id: string): Promise<OrderSnapshot | undefined> {
  const [row] = await selectOrder(db, { order_id });
  if (row === undefined) return undefined;
  const { ended, payment_link, transactions, expires_at, closings, attention, ...order } = row;
  return {
    ...order,
    ...(ended && { ended }),
    ...(payment_link && { payment_link: { id: payment_link.id, expires_at: Date.parse(payment_link.expires_at) } }),
    expires_at: epochOf(expires_at),
    transactions: (transactions ?? []).map(transactionOf),
    ...(closings && { closings }),
    ...(attention !== null && { attention }),
  };
}

/** Like findOrderSnapshot, for an order that must exist: throws RecordMissing when it does not. */
export async function loadOrderSnapshot(db: Database, order_id: string): Promise<OrderSnapshot> {
  const order = await findOrderSnapshot(db, order_id);
  if (order === undefined) throw new RecordMissing(`order ${order_id}`);
  return order;
}

function transactionOf(row: TransactionRow): TransactionSnapshot {
  const {
    id,
    attempt,
    status,
    charge_began,
    outcome_set_by_hand,
    expires_at,
    poll_at,
    late_poll_at,
    polls,
    capture_mode,
  } = row;
  const { answered_amount: amount, answered_currency: currency } = row;
  return {
    id,
    attempt,
    status,
    ...(charge_began && { charge_began }),
    ...(outcome_set_by_hand && { outcome_set_by_hand }),
    expires_at: epochOf(expires_at),
    ...(poll_at !== null && { poll_at: Date.parse(poll_at) }),
    ...(late_poll_at !== null && { late_poll_at: Date.parse(late_poll_at) }),
    ...(polls > 0 && { polls }),
    ...(amount !== null && currency !== null && { answered: { amount, currency } }),
    ...(capture_mode && { capture: captureOf(row, capture_mode) }),
  };
}

function captureOf(row: TransactionRow, capture_mode: CaptureMode): NonNullable<TransactionSnapshot['capture']> {
  return {
    capture_mode,
    capture_period: row.capture_period,
    ...(row.capture_ends_at !== null && { capture_ends_at: Date.parse(row.capture_ends_at) }),
    reserved: reservedAmount(row),
    unanswered: row.capture_pending_amount + row.void_pending_amount,
    freed: row.freed,
  };
}

/** Follow-up orders never expire. */
const epochOf = (expires_at: string | null) => (expires_at === null ? Number.MAX_SAFE_INTEGER : Date.parse(expires_at));
