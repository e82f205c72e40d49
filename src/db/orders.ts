import { afterMove, planMove, type Change, type OrderRecord, type TransactionRecord } from '../domain/move';
import type { NewOrder, NewTransaction, PaymentMethodDetails } from '../domain/new-order';
import type { EventResult, EventSource } from '../domain/transaction';
import { ORDER_MOVES, TRANSACTION_MOVES, sourcesOf, type OrderStatus } from '../domain/transitions';
import { preconditionFailed, tooLate } from '../errors';
import { preparedRows, rows, type Database } from './connection';

const iso = (epoch_ms: number) => new Date(epoch_ms).toISOString();

function orderRow(order: NewOrder, times: { created: number; end: number }) {
  return {
    ...order,
    kind: 'payment',
    status: 'new' satisfies OrderStatus,
    expires_at: iso(times.end),
    version: 0,
    moves: 0,
    created: iso(times.created),
    modified: iso(times.created),
  };
}

/** The columns an insert names, as `a, b`; those it does not name have the database's defaults, also ones that a later migration adds. */
const columns = <Row>(names: Record<keyof Row, true>) => Object.keys(names).join(', ');

const ORDER_COLUMNS = columns<ReturnType<typeof orderRow>>({
  id: true,
  project_id: true,
  merchant_order_id: true,
  description: true,
  currency: true,
  amount: true,
  attempts_max: true,
  expiration_period: true,
  payment_methods: true,
  return_url: true,
  failure_url: true,
  webhook_url: true,
  locale: true,
  customer: true,
  client: true,
  extra: true,
  order_lines: true,
  kind: true,
  status: true,
  expires_at: true,
  version: true,
  moves: true,
  created: true,
  modified: true,
});

const TRANSACTION_COLUMNS = columns<ReturnType<typeof transactionRow>>({
  id: true,
  order_id: true,
  attempt: true,
  amount: true,
  currency: true,
  payment_method: true,
  payment_method_brand: true,
  payment_method_details: true,
  credit_debit: true,
  transaction_type: true,
  capture_mode: true,
  capture_period: true,
  receiver_account_token: true,
  status: true,
  expiration_period: true,
  expires_at: true,
  created: true,
  modified: true,
});

const ROW_OF_JSON = `select ${TRANSACTION_COLUMNS} from json_populate_record(null::transactions, :transaction::json)`;

/** Whether somebody still waits for the row. By the clock, when the statement runs: it may have waited for a connection or a lock. */
const IN_TIME = '(:not_after::bigint is null or clock_timestamp() <= to_timestamp(:not_after::bigint / 1000.0))';

function newTransactionRecord({ id, attempt, capture_mode, capture_period }: NewTransaction, end: number): TransactionRecord {
  const authorization = capture_mode !== undefined && capture_period !== undefined;
  return {
    transaction_id: id,
    attempt,
    status: 'new',
    end,
    ...(authorization && { capture: { mode: capture_mode, period: capture_period, reserved: 0, unanswered: 0 } }),
  };
}

function transactionRow(transaction: NewTransaction, order: { id: string; amount: number; currency: string }, times: { created: number; end: number }) {
  return {
    ...transaction,
    order_id: order.id,
    amount: order.amount,
    currency: order.currency,
    credit_debit: 'credit',
    status: 'new',
    expires_at: iso(times.end),
    created: iso(times.created),
    modified: iso(times.created),
  };
}

/**
 * Writes the order and the transaction it came with, in one statement.
 * Repeat-safe: an order that is there stays as it is, and what is there is returned. Throws ServiceUnavailable when it is not there
 * and `not_after` has passed.
 */
export async function insertOrder(
  db: Database,
  order: NewOrder,
  transaction: NewTransaction | undefined,
  times: { created: number; order_end: number; transaction_end: number; not_after?: number | undefined },
): Promise<OrderRecord> {
  const [result] = await preparedRows<{ inserted: number }>(
    db,
    'insert order',
    `with o as (
       insert into orders (${ORDER_COLUMNS}) select ${ORDER_COLUMNS} from json_populate_record(null::orders, :order::json)
       where ${IN_TIME}
       on conflict (id) do nothing returning id
     ), t as (
       insert into transactions (${TRANSACTION_COLUMNS}) select row.* from o, (${ROW_OF_JSON}) row
       where row.id is not null
       returning id
     ), e as (
       insert into transaction_events (transaction_id, n, event, source, occurred, noticed)
       select id, 1, 'new', 'merchant', :created, :created from t
     )
     select count(*) as inserted from o`,
    {
      order: JSON.stringify(orderRow(order, { created: times.created, end: times.order_end })),
      transaction: JSON.stringify(
        transaction ? transactionRow(transaction, order, { created: times.created, end: times.transaction_end }) : {},
      ),
      created: iso(times.created),
      not_after: times.not_after ?? null,
    },
  );
  if (result?.inserted !== 1) {
    const there = await findOrder(db, order.id);
    if (there === undefined) throw tooLate();
    return there;
  }
  return {
    order_id: order.id,
    status: 'new',
    version: 0,
    moves: 0,
    amount: order.amount,
    currency: order.currency,
    attempts_max: order.attempts_max,
    order_end: times.order_end,
    transactions: transaction ? [newTransactionRecord(transaction, times.transaction_end)] : [],
    deliveries: [],
  };
}

/**
 * Adds a payment attempt to an order, when the order is still the one `order` describes; a version that only counts changed
 * fields (updateOrder) does not matter.
 * Answers the order with it; repeat-safe: an attempt that is there stays as it is. Throws ServiceUnavailable as insertOrder does.
 */
export async function insertTransaction(
  db: Database,
  order: OrderRecord,
  transaction: NewTransaction,
  times: { created: number; end: number; not_after?: number | undefined },
): Promise<OrderRecord> {
  const [result] = await preparedRows<{ inserted: number }>(
    db,
    'insert transaction',
    `with locked as (
       select id from orders
       where id = :order_id and version = :version and not exists (select 1 from transactions where id = :transaction_id)
       for update
     ), o as (
       -- Asked once the row is ours, not before: waiting for it may have taken long.
       update orders set version = version + 1, modified = :created from locked where orders.id = locked.id and ${IN_TIME}
       returning orders.id
     ), t as (
       insert into transactions (${TRANSACTION_COLUMNS}) select row.* from o, (${ROW_OF_JSON}) row
       returning id
     ), e as (
       insert into transaction_events (transaction_id, n, event, source, occurred, noticed)
       select id, 1, 'new', 'customer', :created, :created from t
     )
     select count(*) as inserted from t`,
    {
      order_id: order.order_id,
      version: order.version,
      transaction_id: transaction.id,
      transaction: JSON.stringify(
        transactionRow(transaction, { id: order.order_id, amount: order.amount, currency: order.currency }, times),
      ),
      created: iso(times.created),
      not_after: times.not_after ?? null,
    },
  );
  if (result?.inserted !== 1) {
    const present = await loadOrder(db, order.order_id);
    if (present.version === order.version && !present.transactions.some((one) => one.transaction_id === transaction.id)) throw tooLate();
    const onlyFieldsChanged = present.version !== order.version && present.moves === order.moves && statusesOf(present) === statusesOf(order);
    return onlyFieldsChanged ? await insertTransaction(db, present, transaction, times) : present;
  }
  return {
    ...order,
    version: order.version + 1,
    transactions: [...order.transactions, newTransactionRecord(transaction, times.end)],
  };
}

const statusesOf = ({ status, transactions }: OrderRecord) => [status, ...transactions.map((one) => one.status)].join();

/** What is written beside the statuses: how the event tells the move, and what became known of the transaction. */
export interface MoveDetails {
  source: EventSource;
  /** Epoch milliseconds, from the workflow. */
  now: number;
  result?: EventResult | undefined;
  authorization_iso_response_code?: string | undefined;
  /** The versions it may be moved from; absent: any. */
  versions?: readonly number[] | undefined;
  /** Columns of the transaction that became known with this move. */
  transaction?: {
    payment_method?: string | undefined;
    payment_method_brand?: string | undefined;
    payment_method_details?: PaymentMethodDetails | undefined;
    response_code?: string | undefined;
    response_code_description?: string | undefined;
    challenge_url?: string | undefined;
    received_3ds_result?: string | undefined;
    liability_shift?: boolean | undefined;
    captured_amount?: number | undefined;
  };
}

/**
 * The one function that moves an order and its transaction: statuses, event, `modified` and the webhook that is due, in one
 * SQL statement, guarded by the version the move was planned from and by the statuses the table allows.
 * Repeat-safe: where the order is there already, nothing is written. Answers the order as it is now.
 */
export async function moveOrder(db: Database, order: OrderRecord, change: Change, details: MoveDetails): Promise<OrderRecord> {
  const move = planMove(order, change);
  if (move === undefined) return order;
  const [result] = await preparedRows<{ moved: number; delivery: number | null }>(
    db,
    'move order',
    `with locked as (
       select id from orders where id = :order_id and version = :version and status = any(:order_sources::text[]) for update
     ), t as (
       update transactions set
         status = :transaction_to,
         modified = :now,
         payment_method = coalesce(:payment_method, payment_method),
         payment_method_brand = coalesce(:payment_method_brand, payment_method_brand),
         payment_method_details = coalesce(:payment_method_details::json, payment_method_details),
         response_code = coalesce(:response_code, response_code),
         response_code_description = coalesce(:response_code_description, response_code_description),
         challenge_url = coalesce(:challenge_url, challenge_url),
         received_3ds_result = coalesce(:received_3ds_result, received_3ds_result),
         liability_shift = coalesce(:liability_shift::boolean, liability_shift),
         captured_amount = coalesce(:captured_amount::bigint, captured_amount),
         -- Before it is accepted a transaction shows how long it can be paid, from then on how long it can be captured.
         capture_ends_at = coalesce(:capture_ends_at::timestamptz, capture_ends_at),
         expiration_period = case when :capture_ends_at::timestamptz is null then expiration_period else capture_period end
       from locked
       where transactions.id = :transaction_id::uuid and transactions.status = any(:transaction_sources::text[])
       returning transactions.id
     ), o as (
       update orders set
         status = :order_to,
         ended = :ended,
         version = version + 1,
         moves = moves + (:status_changed::boolean)::int,
         modified = :now,
         completed = case when :completes::boolean then :now::timestamptz else completed end
       from locked
       where orders.id = locked.id and (:transaction_id::uuid is null or exists (select 1 from t))
       returning orders.id, orders.moves, orders.webhook_url, orders.project_id, orders.related_order_id
     ), r as (
       -- A payment order shows how its follow-up orders stand, so it is another version.
       update orders set version = orders.version + 1, modified = :now from o where orders.id = o.related_order_id
     ), e as (
       insert into transaction_events (transaction_id, n, event, source, result, authorization_iso_response_code, occurred, noticed)
       select t.id, (select count(*) + 1 from transaction_events where transaction_id = t.id), :transaction_to, :source, :result,
              :authorization_iso_response_code, :now, :now
       from t
     ), d as (
       insert into webhook_deliveries (order_id, n, url, created)
       select o.id, o.moves, coalesce(o.webhook_url, p.webhook_url), :now
       from o join projects p on p.id = o.project_id
       where :status_changed::boolean and coalesce(o.webhook_url, p.webhook_url) is not null
       returning n
     )
     select (select count(*) from o) as moved, (select n from d) as delivery`,
    {
      order_id: order.order_id,
      version: order.version,
      order_sources: move.status_changed ? sourcesOf(ORDER_MOVES, move.order_to) : [move.order_to],
      order_to: move.order_to,
      ended: move.ended ?? null,
      status_changed: move.status_changed,
      completes: move.completes,
      transaction_id: move.transaction?.transaction_id ?? null,
      transaction_to: move.transaction?.to ?? null,
      transaction_sources: move.transaction ? sourcesOf(TRANSACTION_MOVES, move.transaction.to) : [],
      capture_ends_at: move.transaction?.capture_end === undefined ? null : iso(move.transaction.capture_end),
      source: details.source,
      result: details.result ?? null,
      authorization_iso_response_code: details.authorization_iso_response_code ?? null,
      now: iso(details.now),
      payment_method: details.transaction?.payment_method ?? null,
      payment_method_brand: details.transaction?.payment_method_brand ?? null,
      payment_method_details: details.transaction?.payment_method_details
        ? JSON.stringify(details.transaction.payment_method_details)
        : null,
      response_code: details.transaction?.response_code ?? null,
      response_code_description: details.transaction?.response_code_description ?? null,
      challenge_url: details.transaction?.challenge_url ?? null,
      received_3ds_result: details.transaction?.received_3ds_result ?? null,
      liability_shift: details.transaction?.liability_shift ?? null,
      captured_amount: details.transaction?.captured_amount ?? null,
    },
  );
  if (result?.moved === 1) return afterMove(order, move, result.delivery ?? undefined);
  // Somebody was first: most often this very move, whose answer was lost. Plan again from what is there now.
  const present = await loadOrder(db, order.order_id);
  if (details.versions?.includes(present.version) === false && planMove(present, change) !== undefined) throw preconditionFailed();
  if (present.version === order.version) throw new Error(`order ${order.order_id}: the guard refused ${order.status} → ${move.order_to}`);
  return await moveOrder(db, present, change, details);
}

/** Follow-up orders have no end of their own. */
const endOf = (expires_at: string | null) => (expires_at === null ? Number.MAX_SAFE_INTEGER : Date.parse(expires_at));

type CaptureRow = Omit<NonNullable<TransactionRecord['capture']>, 'end'> & { end: string | null };

interface OrderRecordRow extends Omit<OrderRecord, 'order_end' | 'transactions' | 'ended' | 'closings' | 'attention'> {
  ended: OrderRecord['ended'] | null;
  order_end: string | null;
  transactions: (Omit<TransactionRecord, 'end' | 'capture'> & { end: string | null; capture: CaptureRow | null })[] | null;
  closings: NonNullable<OrderRecord['closings']> | null;
  attention: string | null;
}

/** The order as decisions need it; `undefined` when there is none. */
export async function findOrder(db: Database, order_id: string): Promise<OrderRecord | undefined> {
  const [row] = await rows<OrderRecordRow>(
    db,
    `select o.id as order_id, o.status, o.version, o.moves, o.amount, o.currency, o.attempts_max, o.ended, o.expires_at as order_end, o.attention,
       (select json_agg(json_build_object('transaction_id', t.id, 'attempt', t.attempt, 'status', t.status, 'end', t.expires_at,
                 'capture', case when t.capture_mode is not null then json_build_object('mode', t.capture_mode, 'period', t.capture_period, 'end', t.capture_ends_at,
                   'reserved', case when t.status = 'accepted' then t.amount - t.captured_amount - t.voided_amount - t.capture_pending_amount - t.void_pending_amount else 0 end,
                   'unanswered', t.capture_pending_amount + t.void_pending_amount) end)
               order by t.attempt) from transactions t where t.order_id = o.id) as transactions,
       (select json_agg(json_build_object('order_id', f.id, 'kind', f.kind, 'status', f.status) order by f.created, f.id) from orders f
        where f.related_order_id = o.id and f.kind in ('capture', 'void') and f.requested_by = 'service') as closings,
       array(select d.n from webhook_deliveries d where d.order_id = o.id and d.status = 'new' order by d.n) as deliveries
     from orders o where o.id = :order_id`,
    { order_id },
  );
  if (row === undefined) return undefined;
  const { ended, transactions, order_end, closings, attention, ...order } = row;
  return {
    ...order,
    ...(ended && { ended }),
    order_end: endOf(order_end),
    transactions: (transactions ?? []).map(({ end, capture, ...transaction }) => ({ ...transaction, end: endOf(end), ...(capture && { capture: captureOf(capture) }) })),
    ...(closings && { closings }),
    ...(attention !== null && { attention }),
  };
}

function captureOf({ end, ...capture }: CaptureRow): NonNullable<TransactionRecord['capture']> {
  return { ...capture, ...(end !== null && { end: Date.parse(end) }) };
}

/** As findOrder, for an order that must be there. */
export async function loadOrder(db: Database, order_id: string): Promise<OrderRecord> {
  const order = await findOrder(db, order_id);
  if (order === undefined) throw new Error(`order ${order_id} is not there`);
  return order;
}
