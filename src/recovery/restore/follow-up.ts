import { setFollowUpOutcome } from '../../../activities/manual-outcome';
import { signalPayment } from '../../../activities/order-signals';
import {
  firstAnswerUpdate,
  setOutcomeUpdate,
  type FollowUpInput,
  type SetOutcomeInput,
} from '../../../workflows/messages';
import { insertFollowUp, recordFollowUpOutcome } from '../../db/orders/follow-ups';
import { findOrderSnapshot, loadOrderSnapshot } from '../../db/orders/order-snapshot';
import { findStoredOrder } from '../../db/orders/stored-order';
import { followUpIdempotencyKey } from '../../domain/follow-up';
import { isAttemptOpen } from '../../domain/order';
import { transactionOf } from '../../domain/order-snapshot';
import { ORDER_MOVES, isFinal } from '../../domain/transitions';
import { processorOrderId, transactionId } from '../../ids';
import { currentTimeOf } from '../../time';
import type { ReportedOperation } from '../../processor/wire';
import type { SeenWorkflow, SentInputs } from '../../temporal/sent-inputs';
import {
  EndedAgain,
  LeftForPerson,
  again,
  deadline,
  endRun,
  untilDone,
  untilStored,
  type Restoration,
} from './restoration';
import { doneIn } from './sent-to-order';

/** What was sent to a follow-up order: its workflow's input, and updates. */
export type SentToFollowUp = SentInputs & { start: FollowUpInput };

/**
 * Writes a follow-up order again: its amount is set aside and its operation sent again; the processor knows it by its
 * key. One whose outcome was set by hand, or that had failed without the processor, is not sent again. Returns whether
 * the record was changed.
 */
export async function restoreFollowUp(
  restoration: Restoration,
  id: string,
  workflow: SeenWorkflow,
  { start: input, is_refused, updates, result }: SentToFollowUp,
): Promise<boolean> {
  const { db, workflows, operations } = restoration;
  const stored = await findStoredOrder(db, id);
  const key = keyOf(id, input);
  if (stored === undefined) {
    // Without an answer it is there only if the processor has carried it out, as after any lost answer.
    if (isUnanswered(input, { updates, result }) ? !(await operations.isKnown(key)) : is_refused) {
      // It was never written, or there was nothing to record.
      if (is_refused) return false;
      await endRun(restoration, workflow);
      throw new LeftForPerson('The processor does not know this operation: sent again now, it would be carried out.');
    }
  }
  // All that was left then may be more than is left now.
  const amount = input.amount ?? operations.since(key)?.amount;
  const sent = () => {
    const request = input.request && again(input.request);
    return { ...input, ...(request && { request }), ...(amount !== undefined && { amount }) };
  };
  const resume = () => workflows.follow_ups.resume(sent(), deadline());
  const outcome = doneIn<SetOutcomeInput>(updates, setOutcomeUpdate.name);
  const is_over = outcome !== undefined || result === 'error';
  if (stored === undefined) {
    const is_written = outcome !== undefined && amount !== undefined;
    if (is_over && !is_written && !(await operations.isKnown(key))) {
      throw new LeftForPerson('It had ended without the processor, which would carry it out now.');
    }
    await endRun(restoration, workflow);
    if (is_written) {
      await untilPaymentHasOutcome(restoration, input);
      const now = currentTimeOf(await loadOrderSnapshot(db, input.original_order_id));
      await insertFollowUp(db, { ...sent(), transaction_id: transactionId(id, 1), now });
    }
  }
  const is_ended = is_over && (await endFollowUp(restoration, id, input, outcome));
  await resume();
  if (is_ended && outcome === undefined) {
    throw new EndedAgain('It had ended as error without the processor. It is ended again, and nothing was sent.');
  }
  if (is_ended) return true;
  // A possible reversal has no record until there is something to reverse.
  if (stored !== undefined || (input.kind === 'reversal' && input.requested_by === 'service')) return false;
  await untilStored(restoration, id, input.kind, resume);
  return true;
}

/** Waits for the outcome of the payment: until it is known, every follow-up order of it is refused. */
async function untilPaymentHasOutcome(
  { db }: Restoration,
  { original_order_id, original_transaction_id }: FollowUpInput,
): Promise<void> {
  await untilDone(new LeftForPerson('The outcome of its payment is not known.'), async () => {
    const payment = await loadOrderSnapshot(db, original_order_id);
    const status = transactionOf(payment, original_transaction_id)?.status;
    return status !== undefined && !isAttemptOpen(status);
  });
}

/** Whether later follow-up orders of its payment may be written only after this one. */
export function isNeededByLater({ operations }: Restoration, id: string, sent: SentToFollowUp): boolean {
  // One that failed moved no money of the payment, nor does one that is left for a person.
  const is_left = isUnanswered(sent.start, sent) && operations.since(keyOf(id, sent.start)) === undefined;
  return sent.result !== 'error' && !is_left;
}

/**
 * Ends a follow-up order of the record before its workflow could send it again: with the outcome that an operator had
 * set, or as failed, if the processor does not know it, or does not say. Returns whether it was ended.
 */
async function endFollowUp(
  restoration: Restoration,
  id: string,
  input: FollowUpInput,
  outcome: SetOutcomeInput | undefined,
): Promise<boolean> {
  const { db, operations } = restoration;
  const order = await findOrderSnapshot(db, id);
  if (order === undefined || isFinal(ORDER_MOVES, order.status)) return false;
  const now = currentTimeOf(order);
  if (outcome !== undefined) {
    await setFollowUpOutcome(restoration, { ...input, manual_outcome: outcome, now });
    return true;
  }
  if (await operations.isSaidToBeKnown(keyOf(id, input))) return false;
  await recordFollowUpOutcome(db, order, { ...input, amount: order.amount }, 'error', { source: 'service', now });
  await signalPayment(restoration, input);
  return true;
}

/**
 * Records an operation that the processor has initiated: a notification that came while the record lacked the payment
 * was ignored. Returns whether the record was changed.
 */
export async function restoreInitiated(restoration: Restoration, operation: ReportedOperation): Promise<boolean> {
  const { db, workflows } = restoration;
  const { operation: kind, order_id, transaction_id, idempotency_key } = operation;
  const id = processorOrderId(transaction_id, idempotency_key);
  if ((await findStoredOrder(db, order_id)) === undefined) return false;
  if ((await findStoredOrder(db, id)) !== undefined) return false;
  const notify = () => workflows.processor_notifications.handle(operation, deadline());
  await notify();
  await untilStored(restoration, id, kind, notify);
  return true;
}

/** The key under which the processor knows a follow-up order. */
const keyOf = (id: string, { original_transaction_id, kind }: FollowUpInput) =>
  followUpIdempotencyKey(original_transaction_id, kind, id);

/** Whether nobody has got an answer about a merchant's follow-up order, as far as Temporal knows. */
const isUnanswered = ({ requested_by }: FollowUpInput, { updates, result }: Pick<SentInputs, 'updates' | 'result'>) =>
  requested_by === 'merchant' &&
  (result === undefined || result === 'refused') &&
  !updates.some((update) => update.result === 'done' && ANSWERS.includes(update.name));
const ANSWERS = [firstAnswerUpdate.name, setOutcomeUpdate.name];
