import { findFollowUps, insertFollowUp } from '../src/db/orders/follow-ups';
import { beginAttempt, insertOrder } from '../src/db/orders/insert-order';
import { moveOrder } from '../src/db/orders/move-order';
import { findOrderSnapshot as findOrderRecord, loadOrderSnapshot } from '../src/db/orders/order-snapshot';
import { findPayment, recordPoll } from '../src/db/orders/transactions';
import { isLate } from '../src/db/requests/request-claims';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import type { NewTransaction } from '../src/domain/new-order';
import { transactionExpiresAt, type Ending } from '../src/domain/order';
import {
  lastTransaction,
  outcomeAwaitedFrom,
  transactionOf,
  withPoll,
  type OrderSnapshot,
} from '../src/domain/order-snapshot';
import { planOutcome } from '../src/domain/outcome';
import type { EventSource } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { preconditionFailed } from '../src/errors';
import { closingOrderId, transactionId } from '../src/ids';
import type { CaptureOrVoidInput, CreateOrderInput, SubmitPaymentInput, TransactionInput } from '../workflows/messages';
import { foundOrNull } from './failure';
import { charge, findCharge, recordOutcome, sendCharge } from './order-charge';
import { pollOutcome, type PollInput } from './order-outcome';
import { signalPaymentLink } from './order-signals';
import type { AtTime, ActivityServices } from './services';

/**
 * Activities of an order's workflow. Every charge is sent under a key derived from its transaction, so each is safe to
 * repeat.
 */

/** Writes a new order; repeat-safe. Throws ServiceUnavailable when it does not exist and the request came too late. */
export async function writeOrder({ db }: ActivityServices, input: CreateOrderInput & AtTime): Promise<OrderSnapshot> {
  const { order, transaction, period, payment_link, now, request } = input;
  // The order of a payment link never outlives its link (rules 19.7).
  const expires_at = Math.min(now + period, payment_link?.expires_at ?? Infinity);
  const transaction_expires_at = transactionExpiresAt({
    order_expires_at: expires_at,
    created: now,
    period: transaction?.period ?? period,
  });
  const details = { created: now, expires_at, transaction_expires_at, payment_link, request };
  return await insertOrder(db, order, transaction && withoutPeriod(transaction), details);
}

/** The order as recorded; null when there is none, RecordMissing for an order that `must_exist`. */
export async function readOrder(
  { db }: ActivityServices,
  { order_id, must_exist = false }: { order_id: string; must_exist?: boolean },
): Promise<OrderSnapshot | null> {
  return foundOrNull(await findOrderRecord(db, order_id), must_exist, `order ${order_id}`);
}

/** Writes an order that came with a card token and charges it, in one activity, as every step is safe to repeat. */
export async function createAndCharge(
  services: ActivityServices,
  input: CreateOrderInput & AtTime,
): Promise<OrderSnapshot> {
  const { transaction, request } = input;
  const order = await writeOrder(services, input);
  const is_new = transaction !== undefined && lastTransaction(order)?.status === 'new';
  const charged = is_new ? await charge(services, order, { ...input, transaction }) : order;
  // Otherwise the payer has not been answered yet, and the answer carries the outcome.
  return isLate(request) ? await signalPaymentLink(services, charged) : charged;
}

/** Charges one payment attempt of an existing order; the first attempt may have been written with the order. */
export async function chargeAttempt(
  services: ActivityServices,
  input: SubmitPaymentInput & AtTime & { order: OrderSnapshot },
): Promise<OrderSnapshot> {
  const { transaction, now, request } = input;
  const announced = input.order.transactions.find((one) => one.attempt === transaction.attempt);
  const id = announced?.id ?? transaction.id;
  const { expires_at: order_expires_at } = input.order;
  const expires_at = transactionExpiresAt({ order_expires_at, created: now, period: transaction.period });
  const details = { created: now, expires_at, request };
  const order = await beginAttempt(services.db, input.order, { ...withoutPeriod(transaction), id }, details);
  return transactionOf(order, id)?.status === 'new' ? await charge(services, order, input) : order;
}

/** Asks for the outcome of a charge and records what follows (planOutcome). */
export async function pollCharge(
  services: ActivityServices,
  input: PollInput & { transaction_id: string },
): Promise<OrderSnapshot> {
  const { transaction_id, now } = input;
  const polled = await pollOutcome(services, input, {
    find: () => findCharge(services, input.order, transaction_id),
    async sendAgain() {
      const order = await loadOrderSnapshot(services.db, input.order.id);
      const plan = planOutcome(order, { transaction_id, outcome: 'not_found', now, machine_now: Date.now() });
      if (plan.action !== 'send') return 'not_found';
      const sent = await sendCharge(services, order, await findPayment(services.db, transaction_id));
      return sent === 'key_used_for_other_request' ? 'unknown' : sent;
    },
    record: (order, outcome) => recordOutcome(services, order, { transaction_id, outcome, now }),
  });
  return await signalPaymentLink(services, polled);
}

/**
 * Ends an unpaid order and its open transaction together: cancelled or expired. It asks the processor first, and what
 * was paid counts: a worker may have died right after charging, or the customer may have passed 3-D Secure without our
 * being told. Without an answer the order is returned unchanged. Throws PreconditionFailed when the order is at none of
 * `versions`.
 */
export async function endUnpaidOrder(
  services: ActivityServices,
  input: {
    order: OrderSnapshot;
    ended: Ending;
    source: EventSource;
    versions?: readonly number[] | undefined;
    /** When the processor is asked again if it gives no answer, epoch milliseconds; absent: that stays as it is. */
    poll_at?: number | undefined;
  } & AtTime,
): Promise<OrderSnapshot> {
  const { db } = services;
  const { ended, source, versions, now, poll_at } = input;
  let order = await loadOrderSnapshot(db, input.order.id);
  if (!isFinal(ORDER_MOVES, order.status)) {
    if (versions?.includes(order.version) === false) throw preconditionFailed();
    const last = lastTransaction(order);
    if (last?.status === 'new' || last?.status === 'pending') {
      const outcome = await findCharge(services, order, last.id);
      if (outcome === 'unknown') {
        await recordPoll(db, { transaction_id: last.id, now, poll_at, is_unknown: true });
        return poll_at === undefined ? order : withPoll(order, last.id, poll_at);
      }
      if (outcome !== 'not_found') {
        order = await recordOutcome(services, order, { transaction_id: last.id, outcome, now });
      }
    }
    if (!isFinal(ORDER_MOVES, order.status) && outcomeAwaitedFrom(order) !== 'processor') {
      order = await moveOrder(db, order, { ended }, { source, now, versions: versions && [order.version] });
    }
  }
  return await signalPaymentLink(services, order);
}

/**
 * Sets the amount of a capture or void aside and starts its workflow. Returns the payment order. Throws the domain's
 * refusals.
 */
export async function startCaptureOrVoid(
  services: ActivityServices,
  input: CaptureOrVoidInput & AtTime,
): Promise<OrderSnapshot> {
  const { db } = services;
  const written = await insertFollowUp(db, { ...input, transaction_id: transactionId(input.id, 1) });
  if (!isFinal(ORDER_MOVES, written.status)) await startFollowUps(services, [written.id]);
  return await loadOrderSnapshot(db, input.original_order_id);
}

/** Captures or releases what an authorization still holds at the end of its window. Returns the payment order. */
export async function closeCaptureWindow(
  services: ActivityServices,
  { order_id, now }: { order_id: string } & AtTime,
): Promise<OrderSnapshot> {
  const { db } = services;
  const authorization = openAuthorization(await loadOrderSnapshot(db, order_id));
  if (authorization !== undefined) {
    const { transaction_id, closings } = authorization;
    // A worker may have been killed between writing the last one and starting it.
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
 * Starts the reversal of a payment that may have been approved after it had ended; it asks now, or after
 * `poll_after_ms`.
 */
export const startReversal = async (
  { workflows }: ActivityServices,
  input: { transaction_id: string; poll_after_ms?: number | undefined } & AtTime,
) => await workflows.follow_ups.startReversal(input);

/**
 * Starts the workflows of captures and voids that this activity wrote. Those of others were started by theirs, or are
 * recovery's (rules 10.13): a payment may have thousands.
 */
async function startFollowUps({ db, workflows }: ActivityServices, ids: readonly string[]): Promise<void> {
  for (const written of await findFollowUps(db, ids)) await workflows.follow_ups.start(written);
}

/** The transaction without its period: the row holds expires_at instead. */
function withoutPeriod(transaction: TransactionInput): NewTransaction {
  const { period: _, ...row } = transaction;
  return row;
}
