import { ANNOUNCED_OVERDUE, LATE_APPROVAL_OVERDUE } from '../src/domain/attention';
import type { Database } from '../src/db/query';
import { insertFollowUp, lockPayment, recordFollowUpOutcome } from '../src/db/orders/follow-ups';
import { announceOperation, endAnnouncement } from '../src/db/orders/announced-operations';
import { endWatch, endWatchOfReversed, findWatch, postponeWatch } from '../src/db/orders/late-approvals';
import { findOrderSnapshot, loadOrderSnapshot } from '../src/db/orders/order-snapshot';
import { endedUnpaid, findPayment, type EndedPayment, recordMismatch } from '../src/db/orders/transactions';
import { addAttention } from '../src/db/orders/update-order';
import {
  PROCESSOR_INITIATED,
  followUpIdempotencyKey,
  movesReservedMoney,
  type FollowUpKind,
} from '../src/domain/follow-up';
import { latestAttempt, type OrderSnapshot } from '../src/domain/order-snapshot';
import { isApproved, isChallenge, isMismatch, isOutcomeMissing, isUndecided, outcomeOf } from '../src/domain/outcome';
import { chargeIdempotencyKey, expectedCharge, isAnswerOverdue, mayLookUpLag } from '../src/domain/transaction';
import { minorUnitsInWords, mismatchInWords, type LateApprovalWatch } from '../src/domain/waits';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError } from '../src/errors';
import { processorOrderId, transactionId } from '../src/ids';
import type { OperationOutcome } from '../src/processor/client';
import { operationPages } from '../src/processor/operation-pages';
import type { OperationResult, ReportedOperation } from '../src/processor/wire';
import type { FollowUpInput } from '../workflows/messages';
import { pollOutcome, withContradiction, type PollInput } from './order-outcome';
import { signalPayment } from './order-signals';
import { currentInstant } from './activity-time';
import type { TimeOfTry, ActivityServices } from './services';

/**
 * - `recorded`: the order is in the record. `was_final`: its outcome was known before.
 * - `unanswered`: the processor has to be polled again.
 * - `undecided`: likewise for a late approval: the customer is still in 3-D Secure, or the processor does not know the
 *   charge yet.
 * - `nothing`: there is nothing to record, nor to poll for: the processor did not approve the payment late, or knows no
 *   such chargeback.
 *
 * `attention`: why an operator has to act.
 */
export type FollowUpExecution =
  | { result: 'recorded'; order: OrderSnapshot; was_final?: boolean; attention?: never }
  | { result: 'unanswered' | 'undecided' | 'nothing'; attention?: string | undefined; order?: never };

const NOTHING: FollowUpExecution = { result: 'nothing' };

/**
 * Activities of a follow-up order's workflow. The operation's idempotency key derives from its order, so each activity
 * is safe to repeat.
 */

/**
 * Writes a follow-up order and executes it at the processor. One activity, as every step is safe to repeat. Throws the
 * domain's refusals.
 */
export async function executeFollowUp(
  services: ActivityServices,
  input: FollowUpInput & TimeOfTry,
): Promise<FollowUpExecution> {
  if (input.requested_by === 'processor') return await recordProcessorInitiated(services, input);
  return input.kind === 'reversal' ? await reverseLateApproval(services, input) : await execute(services, input);
}

/**
 * Polls an open outcome. Sends the operation again if the processor does not know it. Signals the payment's workflow
 * once the outcome is known, also when an earlier try has recorded it and was not able to signal.
 */
export async function pollFollowUp(
  services: ActivityServices,
  input: FollowUpInput & PollInput,
): Promise<OrderSnapshot> {
  const { order, id, kind, original_transaction_id } = input;
  const { amount, currency } = order;
  const polled = await pollOutcome(services, input, {
    find: () =>
      services.processor.findOperation(followUpIdempotencyKey(original_transaction_id, kind, id), {
        ...(kind !== 'chargeback' && { operation: kind }),
        transaction_id: original_transaction_id,
        amount,
        currency,
      }),
    // A workflow from an older copy of Temporal may not know that an operator has set the outcome.
    sendAgain: async () => {
      const current = await loadOrderSnapshot(services.db, id);
      return isFinal(ORDER_MOVES, current.status) ? 'not_found' : await send(services, input, current);
    },
    record: async (current, answer) =>
      answer === 'not_found' ? current : await recordProcessorAnswer(services, input, current, answer),
  });
  return await signalPaymentOfFinal(services, input, polled);
}

async function execute(services: ActivityServices, input: FollowUpInput & TimeOfTry): Promise<FollowUpExecution> {
  const { db } = services;
  // A capture or void was written before this workflow was started.
  const written = movesReservedMoney(input.kind) ? await findOrderSnapshot(db, input.id) : undefined;
  const order = written ?? (await insert(db, input));
  const was_final = isFinal(ORDER_MOVES, order.status);
  // Signals again: the worker that recorded the outcome may have died before its signal.
  if (was_final) await signalPayment(services, input);
  if (order.status !== 'new') return { result: 'recorded', order, was_final };
  const after = await recordProcessorAnswer(services, input, order, await send(services, input, order));
  return { result: 'recorded', order: await signalPaymentOfFinal(services, input, after) };
}

/** Writes the order unless it exists. Throws the domain's refusals. */
async function insert(trx: Database, input: FollowUpInput & TimeOfTry): Promise<OrderSnapshot> {
  return await insertFollowUp(trx, { ...input, transaction_id: transactionId(input.id, 1) });
}

/**
 * Sends the operation. Every repeat must be identical: the processor refuses a key sent with another body. A reversal is
 * not sent while the payment is charged back, as the money would go back twice (rules 10.11).
 */
async function send(
  { db, processor }: ActivityServices,
  { kind, id, original_transaction_id }: FollowUpInput,
  { amount, currency }: OrderSnapshot,
): Promise<OperationOutcome> {
  if (kind === 'chargeback') throw new Error('chargebacks start at the processor: none is ever requested');
  if (kind === 'reversal' && (await findChargedBack(db, original_transaction_id)) !== undefined) return 'unknown';
  const { order_id, transaction_id, project_id, is_test } = await findPayment(db, original_transaction_id);
  const payment = { order_id, transaction_id, project_id, is_test };
  const key = followUpIdempotencyKey(original_transaction_id, kind, id);
  const outcome = await processor.execute(
    { ...payment, operation: kind, follow_up_order_id: id, amount, currency },
    key,
  );
  return outcome === 'key_used_for_other_request' ? 'unknown' : outcome;
}

/** Records the outcome, or that the processor answered about another amount. Returns the order afterwards. */
async function recordProcessorAnswer(
  services: ActivityServices,
  input: FollowUpInput & TimeOfTry,
  order: OrderSnapshot,
  outcome: OperationOutcome,
): Promise<OrderSnapshot> {
  const { id: transaction_id } = latestAttempt(order)!;
  if (isMismatch(outcome)) await recordMismatch(services.db, transaction_id, outcome);
  const recorded = await writeOutcome(services.db, input, order, outcome);
  return await withContradiction(services.db, recorded, transaction_id, outcome);
}

/** Signals the payment's workflow if the follow-up order is final. Returns the order. */
async function signalPaymentOfFinal(
  services: ActivityServices,
  input: FollowUpInput,
  order: OrderSnapshot,
): Promise<OrderSnapshot> {
  if (isFinal(ORDER_MOVES, order.status)) await signalPayment(services, input);
  return order;
}

/** The outcome is of the instant at which the processor has answered (rules 4.15). */
async function writeOutcome(
  trx: Database,
  input: FollowUpInput & TimeOfTry,
  order: OrderSnapshot,
  outcome: OperationOutcome,
): Promise<OrderSnapshot> {
  const { to, details } = outcomeOf(outcome, { now: currentInstant(input), clock_offset_ms: order.clock_offset_ms });
  return await recordFollowUpOutcome(trx, order, { ...input, amount: order.amount }, to, details);
}

/**
 * Sets the attention of the payment order, as no follow-up order exists. `end` then deletes the row that caused the
 * poll.
 */
async function needsAttention(
  db: Database,
  original_order_id: string,
  attention: string,
  end: () => Promise<void>,
): Promise<FollowUpExecution> {
  await addAttention(db, original_order_id, attention);
  await end();
  return { result: 'nothing', attention };
}

/**
 * Records a chargeback or a won chargeback. The notification is not trusted: the processor is polled by the key in it.
 * The processor's look-up may lag behind its notifications, so an unknown key is polled again for hours (rules 10.9),
 * and one without an answer until there is one: `attention` after a day.
 */
async function recordProcessorInitiated(
  services: ActivityServices,
  input: FollowUpInput & TimeOfTry,
): Promise<FollowUpExecution> {
  const { db, processor } = services;
  const { id: order_id, kind, processor_key = '', original_order_id, original_transaction_id, now } = input;
  const end = () => endAnnouncement(db, order_id);
  // Written together with its outcome. A workflow that starts again from the record does not know the processor's key.
  const recorded = await findOrderSnapshot(db, order_id);
  if (recorded !== undefined) {
    await end();
    return { result: 'recorded', order: recorded, was_final: true };
  }
  const found = await processor.findOperation(processor_key, {});
  // Only a charge has 3-D Secure: its key announces nothing.
  const is_challenge = typeof found === 'object' && found.result === 'challenge';
  const is_missing = isOutcomeMissing(found) && !is_challenge;
  const announce = async () => {
    const announced_as = kind === 'chargeback' ? kind : ('reversal' as const);
    const operation = { order_id, kind: announced_as, processor_key, original_order_id, original_transaction_id };
    return await announceOperation(db, operation, now);
  };
  const unanswered = async (): Promise<FollowUpExecution> => {
    const is_overdue = isAnswerOverdue(await announce(), now);
    return { result: 'unanswered', attention: is_overdue ? ANNOUNCED_OVERDUE : undefined };
  };
  if (is_missing) return await unanswered();
  if (found === 'not_found') {
    if (mayLookUpLag(await announce(), now)) return { result: 'unanswered' };
    const attention = `the processor announced a ${kind} that it does not know`;
    return await needsAttention(db, original_order_id, attention, end);
  }
  // A known key is not enough: it could be that of the charge.
  const recorded_as: Partial<Record<OperationResult['operation'], FollowUpKind>> = PROCESSOR_INITIATED;
  const isMeant = recorded_as[found.operation] === kind && found.transaction_id === original_transaction_id;
  if (!isMeant || found.result !== 'approved') {
    await end();
    return NOTHING;
  }
  const { currency } = await loadOrderSnapshot(db, original_order_id);
  const amount = minorUnitsInWords(found.amount, found.currency);
  if (found.currency !== currency) {
    const attention = `the processor reports a ${kind} of ${amount} of a payment in ${currency}`;
    return await needsAttention(db, original_order_id, attention, end);
  }
  if (kind === 'reversal') {
    const chargebacks = await findChargebacks(services, { ...input, processor_key }, currency);
    if (chargebacks === 'not_recorded') return await unanswered();
    if (chargebacks === 'in_another_currency') {
      const attention = `the processor reports a won chargeback of ${amount} beside a chargeback in another currency`;
      return await needsAttention(db, original_order_id, attention, end);
    }
  }
  // One SQL transaction: recovery does not check such an order without an outcome.
  const order = await db.transaction(async (trx) => {
    await endAnnouncement(trx, order_id);
    const written = await insert(trx, { ...input, amount: found.amount });
    return await writeOutcome(trx, input, written, found);
  });
  return { result: 'recorded', order };
}

/** The longest time of a try until the workflows of missing chargebacks are started: it has nine seconds. */
const CHARGEBACKS_WITHIN_MS = 8_000;

/**
 * Whether the record has every chargeback of the payment that the processor knows. The workflows of those that it lacks
 * are started: their notifications are late or lost. Before them a win would make good another chargeback, which was
 * lost, and the merchant could refund its money (rules 10.9); so would the win of one in another currency, which is
 * never recorded. `not_recorded` too as long as the processor does not list the win itself: what happened before it may
 * not be listed either.
 */
async function findChargebacks(
  { db, processor, workflows }: ActivityServices,
  {
    original_order_id,
    original_transaction_id,
    processor_key,
    now_monotonic = performance.now(),
  }: FollowUpInput & TimeOfTry,
  currency: string,
): Promise<'recorded' | 'not_recorded' | 'in_another_currency'> {
  let is_listed = false;
  let has_other_currency = false;
  const missing: ReportedOperation[] = [];
  const left_ms = () => CHARGEBACKS_WITHIN_MS - (performance.now() - now_monotonic);
  try {
    for await (const operations of operationPages(processor, { order_ids: [original_order_id] })) {
      for (const operation of operations) {
        const { operation: name, result, transaction_id, idempotency_key } = operation;
        is_listed ||= idempotency_key === processor_key;
        if (name !== 'chargeback' || result !== 'approved' || transaction_id !== original_transaction_id) continue;
        if (operation.currency !== currency) {
          // One that came after the win is not its own.
          has_other_currency ||= !is_listed;
          continue;
        }
        const recorded = await findOrderSnapshot(db, processorOrderId(transaction_id, idempotency_key));
        if (recorded === undefined) missing.push(operation);
      }
      if (left_ms() <= 0) break;
    }
    for (const chargeback of missing) {
      await workflows.processor_notifications.settled(chargeback, Date.now() + Math.max(0, left_ms()));
    }
  } catch (error) {
    // The processor or Temporal does not answer.
    if (error instanceof ServiceError) return 'not_recorded';
    throw error;
  }
  if (!is_listed || missing.length > 0) return 'not_recorded';
  return has_other_currency ? 'in_another_currency' : 'recorded';
}

/**
 * Writes a reversal only for a charge that ended unpaid and that the processor approved nevertheless. Once it is
 * written, the charge is not polled again. What was charged back is not given back once more: an operator decides.
 */
async function reverseLateApproval(
  services: ActivityServices,
  input: FollowUpInput & TimeOfTry,
): Promise<FollowUpExecution> {
  const { db, processor } = services;
  const { now, original_transaction_id: transaction_id } = input;
  if ((await findOrderSnapshot(db, input.id)) !== undefined) return await executeReversal(services, input);
  const payment = await endedUnpaid(db, transaction_id, { with_declined: true });
  if (payment === undefined) {
    // An approval cannot be reversed without the payment's record.
    await findPayment(db, transaction_id);
    return NOTHING;
  }
  const found = await processor.findOperation(
    chargeIdempotencyKey(transaction_id),
    expectedCharge({ ...payment, transaction_id }),
  );
  if (isMismatch(found)) {
    const attention = `ended unpaid, but ${mismatchInWords(found, payment)}`;
    return await needsAttention(db, input.original_order_id, attention, () => endWatch(db, transaction_id));
  }
  const watch = await findWatch(db, transaction_id);
  // The look-up lags only behind a notification or a charge.
  if (isUndecided(found, watch?.began ?? -Infinity, now)) {
    // The customer is still in 3-D Secure, or the processor does not know the charge yet.
    return await postponePoll(db, watch, now, found === 'not_found' || isChallenge(found) ? 'undecided' : 'unanswered');
  }
  if (isApproved(found)) {
    const charged_back = await insertReversal(db, input);
    if (charged_back === undefined) return await executeReversal(services, input);
    if (charged_back.is_chargeback_announced) return await postponePoll(db, watch, now, 'unanswered');
    const amount = minorUnitsInWords(charged_back.charged_back_amount, charged_back.currency);
    const attention = `approved after it had ended unpaid, and charged back: ${amount}`;
    return await needsAttention(db, input.original_order_id, attention, () => endWatch(db, transaction_id));
  }
  // Declined, or not known for hours: the customer cannot pay at the issuer any more.
  await endWatch(db, transaction_id);
  return NOTHING;
}

/** A payment that ended unpaid and of which money is charged back, or about to be; `undefined`: none is. */
async function findChargedBack(db: Database, transaction_id: string): Promise<EndedPayment | undefined> {
  const payment = await endedUnpaid(db, transaction_id, { with_declined: true });
  return payment?.is_chargeback_announced || payment?.charged_back_amount ? payment : undefined;
}

/**
 * Writes the reversal unless it exists, or the payment is charged back, maybe since the processor was asked about it.
 * Returns the payment that is charged back; `undefined`: the reversal exists.
 */
async function insertReversal(db: Database, input: FollowUpInput & TimeOfTry): Promise<EndedPayment | undefined> {
  return await db.transaction(async (trx) => {
    await lockPayment(trx, input);
    if ((await findOrderSnapshot(trx, input.id)) !== undefined) return undefined;
    const charged_back = await findChargedBack(trx, input.original_transaction_id);
    if (charged_back === undefined) await insert(trx, input);
    return charged_back;
  });
}

async function executeReversal(
  services: ActivityServices,
  input: FollowUpInput & TimeOfTry,
): Promise<FollowUpExecution> {
  const execution = await execute(services, input);
  await endWatchOfReversed(services.db, input.original_transaction_id);
  return execution;
}

/** The processor may still approve the charge: postpones the watch. */
async function postponePoll(
  db: Database,
  watch: LateApprovalWatch | undefined,
  now: number,
  result: 'unanswered' | 'undecided',
): Promise<FollowUpExecution> {
  if (watch === undefined) return { result };
  const is_overdue = await postponeWatch(db, watch, now);
  return { result, attention: is_overdue ? LATE_APPROVAL_OVERDUE : undefined };
}
