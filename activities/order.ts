import { findFollowUps, insertFollowUp } from '../src/db/orders/follow-ups';
import { beginAttempt, insertOrder } from '../src/db/orders/insert-order';
import { moveAsPlanned } from '../src/db/orders/move-order';
import { findOrderSnapshot, loadOrderSnapshot } from '../src/db/orders/order-snapshot';
import { findPayment, recordPoll } from '../src/db/orders/transactions';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import type { NewTransaction } from '../src/domain/new-order';
import { transactionExpiresAt, type Ending } from '../src/domain/order';
import {
  latestAttempt,
  outcomeAwaitedFrom,
  shouldExpire,
  transactionOf,
  withPoll,
  type OrderSnapshot,
} from '../src/domain/order-snapshot';
import { isDeclined, planOutcome } from '../src/domain/outcome';
import type { EventSource } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { preconditionFailed } from '../src/errors';
import { closingOrderId, transactionId } from '../src/ids';
import type { CaptureOrVoidInput, CreateOrderInput, SubmitPaymentInput, TransactionInput } from '../workflows/messages';
import { foundOrNull } from './failure';
import { charge, findCharge, recordChargeOutcome, sendCharge } from './order-charge';
import { pollOutcome, type PollInput } from './order-outcome';
import { signalLinkOfEndedOrder, signalPaymentLink } from './order-signals';
import { currentInstant } from './activity-time';
import type { TimeOfTry, ActivityServices } from './services';

/**
 * Activities of an order's workflow. The idempotency key of a charge derives from its transaction, so each activity is
 * safe to repeat.
 */

/** Writes a new order; repeat-safe. Throws ServiceUnavailable when it does not exist and the request came too late. */
export async function writeOrder(
  { db }: Pick<ActivityServices, 'db'>,
  input: CreateOrderInput & TimeOfTry,
): Promise<OrderSnapshot> {
  const { order, transaction, period, payment_link, now, request } = input;
  // The order of a payment link uses the link's clock. The statement refuses an offset that the link does not have.
  const created = now + (payment_link?.clock_offset_ms ?? 0);
  // An order expires with its payment link at the latest (rules 19.7).
  const expires_at = Math.min(created + period, payment_link?.expires_at ?? Infinity);
  const transaction_expires_at = transactionExpiresAt({
    order_expires_at: expires_at,
    created,
    period: transaction?.period ?? period,
  });
  const details = { created, expires_at, transaction_expires_at, payment_link, request };
  return await insertOrder(db, order, transaction && withoutPeriod(transaction), details);
}

/** The order as recorded; null when there is none, RecordMissing for an order that `must_exist`. */
export async function readOrder(
  { db }: ActivityServices,
  { order_id, must_exist = false }: { order_id: string; must_exist?: boolean },
): Promise<OrderSnapshot | null> {
  return foundOrNull(await findOrderSnapshot(db, order_id), must_exist, `order ${order_id}`);
}

/**
 * Writes an order with a card token, charges it, and signals the workflow of its payment link. One activity, as every
 * step is safe to repeat. `now` is real time: a new order's workflow does not know its clock yet.
 */
export async function createAndCharge(
  services: ActivityServices,
  input: CreateOrderInput & TimeOfTry,
): Promise<OrderSnapshot> {
  const { transaction } = input;
  const order = await writeOrder(services, input);
  const is_new = transaction !== undefined && latestAttempt(order)?.status === 'new';
  const now = input.now + order.clock_offset_ms;
  const charged = is_new ? await charge(services, order, { ...input, transaction, now }) : order;
  return await signalPaymentLink(services, charged);
}

/** Charges one payment attempt of an existing order. The first transaction may have been written with the order. */
export async function chargeAttempt(
  services: ActivityServices,
  input: SubmitPaymentInput & TimeOfTry & { order: OrderSnapshot },
): Promise<OrderSnapshot> {
  const order = await writeAttempt(services, input);
  return transactionOf(order, attemptId(input))?.status === 'new' ? await charge(services, order, input) : order;
}

/** Writes that the charge of an attempt begins, from which on its outcome is awaited; repeat-safe. */
export async function writeAttempt(
  { db }: Pick<ActivityServices, 'db'>,
  input: Pick<SubmitPaymentInput, 'transaction' | 'request'> & Pick<TimeOfTry, 'now'> & { order: OrderSnapshot },
): Promise<OrderSnapshot> {
  const { order, transaction, now, request } = input;
  const { expires_at: order_expires_at } = order;
  const expires_at = transactionExpiresAt({ order_expires_at, created: now, period: transaction.period });
  const details = { created: now, expires_at, request };
  return await beginAttempt(db, order, { ...withoutPeriod(transaction), id: attemptId(input) }, details);
}

const attemptId = ({ order, transaction }: Pick<SubmitPaymentInput, 'transaction'> & { order: OrderSnapshot }) =>
  order.transactions.find(({ attempt }) => attempt === transaction.attempt)?.id ?? transaction.id;

/** Polls the outcome of a charge and records the move that follows (planOutcome). */
export async function pollCharge(
  services: ActivityServices,
  input: PollInput & { transaction_id: string },
): Promise<OrderSnapshot> {
  const { transaction_id, now } = input;
  const asked_at = Math.max(now, Date.now() + input.order.clock_offset_ms);
  const polled = await pollOutcome(services, input, {
    find: () => findCharge(services, input.order, transaction_id),
    async sendAgain() {
      const order = await loadOrderSnapshot(services.db, input.order.id);
      const plan = planOutcome(order, { transaction_id, outcome: 'not_found', now, machine_now: Date.now() });
      if (plan.action !== 'send') return 'not_found';
      const sent = await sendCharge(services, order, await findPayment(services.db, transaction_id));
      return sent === 'key_used_for_other_request' ? 'unknown' : sent;
    },
    record: (order, outcome) =>
      recordChargeOutcome(services, order, { transaction_id, outcome, now: currentInstant(input), asked_at }),
  });
  return await signalLinkOfEndedOrder(services, polled);
}

/**
 * Polls a declined charge after a sign that it was approved (rules 10.18). Unless the processor declines it still, the
 * reversal's workflow polls it from now on.
 */
export async function pollDeclined(
  services: ActivityServices,
  { order, transaction_id, now }: { order: OrderSnapshot; transaction_id: string } & TimeOfTry,
): Promise<void> {
  const outcome = await findCharge(services, order, transaction_id);
  if (isDeclined(outcome)) return;
  await services.workflows.follow_ups.startReversal({ transaction_id, now, with_declined: true });
}

/**
 * Ends an unpaid order and its open transaction together: cancelled or expired. If a charge was sent, it polls the
 * processor first and records a payment instead: a worker may have died right after charging, or the notification of a
 * passed 3-D Secure challenge may be lost. Without an answer the order is returned unchanged. Throws PreconditionFailed
 * when the order is at none of `versions`.
 */
export async function endUnpaidOrder(
  services: ActivityServices,
  input: {
    order: OrderSnapshot;
    ended: Ending;
    source: EventSource;
    versions?: readonly number[] | undefined;
    /** When the processor is polled again if it gives no answer, epoch milliseconds; absent: the stored time stays. */
    poll_at?: number | undefined;
  } & TimeOfTry,
): Promise<OrderSnapshot> {
  const { db } = services;
  const { ended, source, versions, now, poll_at } = input;
  let order = await loadOrderSnapshot(db, input.order.id);
  if (!isFinal(ORDER_MOVES, order.status)) {
    if (versions?.includes(order.version) === false) throw preconditionFailed();
    const last = latestAttempt(order);
    if (last !== undefined && outcomeAwaitedFrom(order) !== undefined) {
      const outcome = await findCharge(services, order, last.id);
      if (outcome === 'unknown') {
        await recordPoll(db, { transaction_id: last.id, now, poll_at, is_unknown: true });
        return poll_at === undefined ? order : withPoll(order, last.id, poll_at);
      }
      if (outcome !== 'not_found') {
        order = await recordChargeOutcome(services, order, {
          transaction_id: last.id,
          outcome,
          now: currentInstant(input),
        });
      }
    }
    const details = { source, now, versions: versions && [order.version] };
    // Planned again if the order changed first: a charge that was sent meanwhile is waited for.
    order = await moveAsPlanned(db, order, (current) =>
      isFinal(ORDER_MOVES, current.status) ||
      outcomeAwaitedFrom(current) === 'processor' ||
      // What ended was a transaction, and the processor has failed it: further attempts may follow.
      (ended === 'expired' && !shouldExpire(current, now))
        ? undefined
        : { change: { ended }, details },
    );
  }
  return await signalLinkOfEndedOrder(services, order);
}

/**
 * Sets the amount of a capture or void aside and starts its workflow. Returns the payment order. Throws the domain's
 * refusals.
 */
export async function startCaptureOrVoid(
  services: ActivityServices,
  input: CaptureOrVoidInput & TimeOfTry,
): Promise<OrderSnapshot> {
  const { db } = services;
  const written = await insertFollowUp(db, { ...input, transaction_id: transactionId(input.id, 1) });
  const { description } = input;
  if (!isFinal(ORDER_MOVES, written.status)) await startFollowUps(services, [written.id], { description });
  return await loadOrderSnapshot(db, input.original_order_id);
}

/** Captures or releases the rest of an authorization at the end of its capture window. Returns the payment order. */
export async function closeCaptureWindow(
  services: ActivityServices,
  { order_id, now }: { order_id: string } & TimeOfTry,
): Promise<OrderSnapshot> {
  const { db } = services;
  const authorization = openAuthorization(await loadOrderSnapshot(db, order_id));
  if (authorization !== undefined) {
    const { transaction_id, closings } = authorization;
    // A worker may have been killed after writing the last one and before starting its workflow.
    const last = closings.find(({ id }) => id === closingOrderId(transaction_id, closings.length));
    const ids = last === undefined || isFinal(ORDER_MOVES, last.status) ? [] : [last.id];
    const closing = closingOf(authorization, now);
    if (closing !== undefined) {
      const id = closingOrderId(transaction_id, closings.length + 1);
      await insertFollowUp(db, {
        ...closing,
        id,
        transaction_id: transactionId(id, 1),
        original_order_id: order_id,
        original_transaction_id: transaction_id,
        requested_by: 'service',
        now,
      });
      ids.push(id);
    }
    await startFollowUps(services, ids);
  }
  return await loadOrderSnapshot(db, order_id);
}

/**
 * Starts the reversal of a payment that may have been approved after it had ended. It polls now, or after
 * `poll_after_ms`.
 */
export const startReversal = async (
  { workflows }: ActivityServices,
  input: { transaction_id: string; poll_after_ms?: number | undefined } & TimeOfTry,
) => await workflows.follow_ups.startReversal(input);

/**
 * Starts the workflows of the captures and voids that this activity wrote, and no others: a payment may have thousands.
 * Recovery starts those that were lost (rules 10.13). `requested`: what only the history has after a restore.
 */
async function startFollowUps(
  { db, workflows }: ActivityServices,
  ids: readonly string[],
  requested: Pick<CaptureOrVoidInput, 'description'> = {},
): Promise<void> {
  for (const written of await findFollowUps(db, ids)) await workflows.follow_ups.start({ ...written, ...requested });
}

/** The transaction without its period: the row holds expires_at instead. */
function withoutPeriod(transaction: TransactionInput): NewTransaction {
  const { period: _, ...row } = transaction;
  return row;
}
