import { loadOrderSnapshot } from '../src/db/orders/order-snapshot';
import { recordPoll } from '../src/db/orders/transactions';
import { addAttention } from '../src/db/orders/update-order';
import type { Database } from '../src/db/query';
import { latestAttempt, transactionOf, withPoll, type OrderSnapshot } from '../src/domain/order-snapshot';
import { contradictionOf, isOutcomeMissing, isStillOpen, type ProcessorOutcome } from '../src/domain/outcome';
import { pollAfter } from '../src/domain/transaction';
import type { OperationOutcome } from '../src/processor/client';
import type { TimeOfTry, ActivityServices } from './services';

/**
 * A poll of an open outcome; without an outcome the next poll is at `poll_at`, epoch milliseconds, or earlier if a
 * customer is at the issuer and the processor does not answer.
 */
export type PollInput = { order: OrderSnapshot; poll_at: number } & TimeOfTry;

/** The operation of an order: a charge, or that of a follow-up order. */
interface PolledOperation<SentAgain> {
  /** Polls the processor by key. */
  find: () => Promise<OperationOutcome | 'not_found'>;
  /** Sends an operation that the processor does not know again, if that is still allowed. */
  sendAgain: () => Promise<SentAgain>;
  /** Records the move that follows from the answer. */
  record: (order: OrderSnapshot, answer: OperationOutcome | SentAgain) => Promise<OrderSnapshot>;
}

/**
 * Polls the outcome of an order's operation, and sends the operation again if the processor does not know it. Records
 * the outcome, or the poll without one. Returns the order afterwards.
 */
export async function pollOutcome<SentAgain extends OperationOutcome | 'not_found'>(
  { db }: ActivityServices,
  { order, now, poll_at }: PollInput,
  { find, sendAgain, record }: PolledOperation<SentAgain>,
): Promise<OrderSnapshot> {
  const found = await find();
  const answer: OperationOutcome | SentAgain = found === 'not_found' ? await sendAgain() : found;
  if (!isOutcomeMissing(answer)) {
    // Where the processor knows nothing, only the record can say that the order was moved meanwhile.
    return await record(answer === 'not_found' ? await loadOrderSnapshot(db, order.id) : order, answer);
  }
  const { id: transaction_id, status, polls = 0 } = latestAttempt(order)!;
  // The customer may be back from the issuer, and the notification may be what asked for this poll.
  const is_silent = found === 'unknown' && status === 'pending';
  const next_at = is_silent ? Math.min(poll_at, now + pollAfter(polls)) : poll_at;
  const isOpen = await recordPoll(db, { transaction_id, now, poll_at: next_at, is_unknown: answer === 'unknown' });
  if (found === 'unknown' && isOpen && status !== 'new') return withPoll(order, transaction_id, next_at);
  // Another worker may have moved the order and died before it returned. The worker that sent it may have died before
  // it wrote that the outcome is unknown.
  const current = await loadOrderSnapshot(db, order.id);
  const current_status = latestAttempt(current)?.status;
  // A later answer is recorded: the customer may have confirmed at the issuer since this one.
  const is_overtaken = isStillOpen(answer) && current_status !== status;
  const is_nothing_new = found === 'unknown' && current_status !== 'new';
  return is_overtaken || is_nothing_new ? current : await record(current, answer);
}

/**
 * Adds attention if an answer that came meanwhile contradicts an outcome that was set by hand. Returns the order
 * afterwards.
 */
export async function withContradiction(
  db: Database,
  order: OrderSnapshot,
  transaction_id: string,
  outcome: ProcessorOutcome | 'not_found',
): Promise<OrderSnapshot> {
  const transaction = transactionOf(order, transaction_id);
  if (!transaction?.outcome_set_by_hand) return order;
  const attention = contradictionOf(order, transaction, outcome);
  if (attention === undefined) return order;
  await addAttention(db, order.id, attention);
  return await loadOrderSnapshot(db, order.id);
}
