import type { TransactionMoney } from '../../domain/amounts';
import {
  FOLLOW_UPS,
  amountChanges,
  amountToMove,
  followUpAttention,
  creditDebitOf,
  statusAfterRelease,
  isFullyReleased,
  movesReservedMoney,
  paymentMethodOf,
  type FollowUpKind,
  type NewFollowUp,
  type PaymentId,
  type RequestedBy,
} from '../../domain/follow-up';
import type { MoveDetails } from '../../domain/move';
import { latestAttempt, type OrderSnapshot } from '../../domain/order-snapshot';
import { ORDER_MOVES, isFinal, type TransactionStatus } from '../../domain/transitions';
import { ServiceError, preconditionFailed, tooLate } from '../../errors';
import { epochMsSql } from '../columns';
import { modifiedAtSql, nextVersionSql, queryRow, queryRows, type Database, type SqlTransaction } from '../query';
import { moveOrder } from './move-order';
import { findOrderSnapshot, loadOrderSnapshot } from './order-snapshot';
import { claimBindings, claimRequest } from '../requests/request-claims';
import { clockOffset } from '../sandbox-clocks/sandbox-clocks';
import { addAttention } from './update-order';
import { toIsoTime } from '../../time';

/**
 * Locks a payment until the SQL transaction ends, so that its amounts change one operation at a time. `undefined` when
 * there is no such payment.
 */
export async function lockPayment(trx: SqlTransaction, { original_order_id, original_transaction_id }: PaymentId) {
  const order = await queryRow<{ version: number }>(
    trx,
    `select version from orders where id = :original_order_id and kind = 'payment' for update`,
    {
      original_order_id,
    },
  );
  if (order === undefined) return undefined;
  const transaction = await queryRow<TransactionMoney & { payment_method: string }>(
    trx,
    `select payment_method, status, amount, capture_mode,
       ${epochMsSql('capture_ends_at')} as capture_ends_at,
       captured_amount, voided_amount, refunded_amount, charged_back_amount, won_back_amount,
       capture_pending_amount, void_pending_amount, refund_pending_amount
     from transactions where id = :original_transaction_id and order_id = :original_order_id for update`,
    { original_order_id, original_transaction_id },
  );
  return transaction && { version: order.version, payment_method: transaction.payment_method, money: transaction };
}

/** A try that has taken so long is stalled: Temporal may try again six seconds after its task began. Milliseconds. */
const STALLED_MS = 3_000;

/**
 * Writes a follow-up order and sets its amount aside, in one SQL transaction that locks the payment. Repeat-safe: an
 * existing order is returned as it is. Throws the refusals of amountToMove, NotFound, PreconditionFailed, and
 * ServiceUnavailable when the request came too late or was withdrawn. `now_monotonic`: performance.now() at `now`; an
 * Error is thrown if the try of a request was stalled since.
 */
export async function insertFollowUp(
  db: Database,
  follow_up: NewFollowUp & { now_monotonic?: number | undefined },
): Promise<OrderSnapshot> {
  const began = performance.now();
  const order = await db.transaction(async (trx) => {
    const { id, kind, request, now, now_monotonic = began } = follow_up;
    const payment = await lockPayment(trx, follow_up);
    const locked = now + Math.floor(performance.now() - began);
    const existing = await findOrderSnapshot(trx, id);
    if (existing !== undefined) return existing;
    // The next try may have refused it, for a reason that is gone since.
    if (request !== undefined && performance.now() - now_monotonic > STALLED_MS) throw new Error('the try was stalled');
    if (payment === undefined) throw new ServiceError('NotFound', 'The transaction does not exist.');
    if (request?.versions?.includes(payment.version) === false) throw preconditionFailed();
    // Both are checked with the payment locked: waiting for the lock may have taken long.
    const amount = amountToMove(payment.money, { ...follow_up, now: locked });
    const inserted = await queryRows(
      trx,
      `with ${claimRequest()}, f as (
         insert into orders (id, kind, requested_by, related_order_id, clock_id, project_id, merchant_order_id, description,
                             extra, currency, amount, status, attempts_max, webhook_url, created, modified)
         select :id, :kind, :requested_by, id, clock_id, project_id, coalesce(:merchant_order_id, merchant_order_id),
                coalesce(:description, description), :extra::json, currency, :amount, 'new', 1, webhook_url, :now, :now
         from orders, in_time where id = :original_order_id
         returning id
       ), t as (
         insert into transactions (id, order_id, attempt, original_transaction_id, amount, currency, payment_method,
                                   payment_method_brand, payment_method_details, credit_debit, transaction_type,
                                   status, created, modified)
         -- A token is for paying, and the receiver's account has nothing to do with what follows.
         select :transaction_id, f.id, 1, original.id, :amount, original.currency, :payment_method,
                original.payment_method_brand,
                (original.payment_method_details::jsonb
                  - array['vault_token', 'receiver_account_number', 'receiver_account_number_type'])::json,
                :credit_debit, :kind, 'new', :now, :now
         from f, transactions original where original.id = :original_transaction_id
         returning id
       ), e as (
         insert into transaction_events (transaction_id, n, event, source, occurred, noticed)
         select id, 1, 'new', :requested_by, :now, :now from t
       )
       update orders set ${nextVersionSql('orders')}
       from f where orders.id = :original_order_id
       returning 1`,
      {
        id,
        kind,
        amount,
        transaction_id: follow_up.transaction_id,
        original_order_id: follow_up.original_order_id,
        original_transaction_id: follow_up.original_transaction_id,
        requested_by: follow_up.requested_by,
        merchant_order_id: follow_up.merchant_order_id ?? null,
        description: follow_up.description ?? null,
        extra: follow_up.extra === undefined ? null : JSON.stringify(follow_up.extra),
        payment_method: paymentMethodOf(kind, payment.payment_method),
        credit_debit: creditDebitOf(follow_up),
        now: toIsoTime(now),
        ...claimBindings(request),
      },
    );
    // Nothing but the withdrawal is written.
    if (inserted.length === 0) return undefined;
    const { pending } = FOLLOW_UPS[kind];
    if (pending !== null) await changeAmounts(trx, follow_up, { [pending]: amount }, now);
    return await loadOrderSnapshot(trx, id);
  });
  if (order === undefined) throw tooLate();
  return order;
}

/** The money that a follow-up order moves, and of which payment. */
export interface FollowUp extends PaymentId {
  kind: FollowUpKind;
  requested_by: RequestedBy;
  amount: number;
}

/**
 * Writes a follow-up order's outcome and the payment's new amounts in one SQL transaction; an authorization with
 * nothing left ends in it. Repeat-safe: a final order stays as it is.
 */
export async function recordFollowUpOutcome(
  db: Database,
  order: OrderSnapshot,
  follow_up: FollowUp,
  to: TransactionStatus,
  details: MoveDetails,
): Promise<OrderSnapshot> {
  return await db.transaction(async (trx) => {
    const payment = await lockPayment(trx, follow_up);
    const current = await loadOrderSnapshot(trx, order.id);
    const transaction_id = latestAttempt(current)?.id ?? '';
    if (isFinal(ORDER_MOVES, current.status) || payment === undefined) return current;
    const moved = await moveOrder(trx, current, { transaction_id, to }, details);
    const changes = amountChanges({ ...follow_up, credit_debit: creditDebitOf(follow_up) }, to);
    await changeAmounts(trx, follow_up, changes, details.now);
    const money = { ...payment.money };
    for (const [column, change] of Object.entries(changes) as [keyof typeof changes, number][]) money[column] += change;
    if (movesReservedMoney(follow_up.kind)) await endAuthorization(trx, follow_up, money, details.now);
    const attention = followUpAttention(follow_up, to, money);
    if (attention === undefined) return moved;
    await addAttention(trx, order.id, attention);
    return await loadOrderSnapshot(trx, order.id);
  });
}

/** Ends an authorization that was voided in full; its order stays completed (rules 8.11). */
async function endAuthorization(
  trx: SqlTransaction,
  { original_order_id, original_transaction_id }: PaymentId,
  money: TransactionMoney,
  now: number,
): Promise<void> {
  if (!isFullyReleased(money)) return;
  const released = await queryRows(
    trx,
    `select 1 from orders
     where related_order_id = :original_order_id and kind = 'void' and requested_by = 'service' limit 1`,
    {
      original_order_id,
    },
  );
  const to = statusAfterRelease(released.length > 0);
  const source = to === 'expired' ? 'service' : 'merchant';
  await moveOrder(
    trx,
    await loadOrderSnapshot(trx, original_order_id),
    { transaction_id: original_transaction_id, to },
    { source, now },
  );
}

/** Adds to columns of amounts; their names come from the domain's table. */
async function changeAmounts(
  trx: SqlTransaction,
  { original_transaction_id }: PaymentId,
  changes: Partial<Record<string, number>>,
  now: number,
): Promise<void> {
  const columns = Object.keys(changes);
  if (columns.length === 0) return;
  const added = columns.map((column) => `${column} = ${column} + :${column}`).join(', ');
  await queryRows(
    trx,
    `update transactions set ${modifiedAtSql('transactions')}, ${added} where id = :original_transaction_id`,
    { original_transaction_id, now: toIsoTime(now), ...changes },
  );
}

/** A follow-up order that is already written, as its workflow needs it. */
export interface RecordedFollowUp extends FollowUp {
  id: string;
  project_id: string;
  /** How far its clock is ahead of real time, in milliseconds. */
  clock_offset_ms: number;
}

/** The columns of RecordedFollowUp and the tables they are from; queries add their `where`. */
export const RECORDED_FOLLOW_UP = {
  columns: `f.id, f.project_id, f.kind, f.requested_by, f.amount, f.related_order_id as original_order_id,
    t.original_transaction_id, ${clockOffset('f')} as clock_offset_ms`,
  from: 'orders f join transactions t on t.order_id = f.id',
};
const SELECT_FOLLOW_UP = `select ${RECORDED_FOLLOW_UP.columns} from ${RECORDED_FOLLOW_UP.from}`;

/** The follow-up orders of these ids. */
export async function findFollowUps(db: Database, ids: readonly string[]): Promise<RecordedFollowUp[]> {
  return await queryRows<RecordedFollowUp>(
    db,
    `${SELECT_FOLLOW_UP} where f.id = any(:ids::uuid[]) and f.kind <> 'payment'`,
    { ids },
  );
}

/** The follow-up order of a transaction; `undefined` when it is a payment's. */
export async function findFollowUpOfTransaction(
  db: Database,
  transaction_id: string,
): Promise<RecordedFollowUp | undefined> {
  return await queryRow<RecordedFollowUp>(
    db,
    `${SELECT_FOLLOW_UP} where t.id = :transaction_id and f.kind <> 'payment'`,
    { transaction_id },
  );
}
