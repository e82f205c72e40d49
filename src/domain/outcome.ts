import { parseDuration } from './duration';
import { ForbiddenMove, type MoveDetails, type PlannedMove } from './move';
import { isExpired, isAttemptOpen } from './order';
import {
  latestAttempt,
  isSettableByHand,
  transactionOf,
  type OrderSnapshot,
  type TransactionSnapshot,
} from './order-snapshot';
import { mayLookUpLag, type EventResult, type MANUAL_OUTCOMES } from './transaction';
import { mismatchInWords } from './waits';
import { TRANSACTION_MOVES, canMove, type TransactionStatus } from './transitions';

/** The processor's answer about an operation, as far as decisions need it. */
export interface ProcessorResult {
  result: 'approved' | 'declined' | 'refused' | 'processing' | 'challenge' | 'error';
  response_code?: string | undefined;
  response_code_description?: string | undefined;
  /** Where the customer has to go; with `challenge`. */
  challenge_url?: string | undefined;
  three_ds?: { result: string; liability_shift: boolean } | undefined;
  /** When it happened at the processor, ISO 8601. */
  occurred: string;
}

/**
 * The processor's answer is about another amount or currency than the operation: neither approved nor declined (rules
 * 10.17). Minor units.
 */
export interface AmountMismatch {
  result: 'mismatch';
  amount: number;
  currency: string;
}

/**
 * `unknown`: no usable answer came, so the operation may or may not have been executed. It never counts as a decline
 * (rules 10.1).
 */
export type ProcessorOutcome = ProcessorResult | AmountMismatch | 'unknown';

/** Whether the processor answered about another amount or currency. */
export function isMismatch(outcome: ProcessorOutcome | 'not_found'): outcome is AmountMismatch {
  return typeof outcome === 'object' && outcome.result === 'mismatch';
}

/** An answer without an outcome: unusable, still in progress, or about another amount. */
export type MissingOutcome = 'unknown' | AmountMismatch | (ProcessorResult & { result: 'processing' | 'challenge' });

/** Whether the processor was polled and the outcome is still open. */
export function isOutcomeMissing(outcome: ProcessorOutcome | 'not_found'): outcome is MissingOutcome {
  return outcome === 'unknown' || isMismatch(outcome) || isStillOpen(outcome);
}

/** Whether the processor said that the outcome is still open. It holds only for what was recorded when it was asked. */
export function isStillOpen(outcome: ProcessorOutcome | 'not_found'): boolean {
  return isChallenge(outcome) || (typeof outcome === 'object' && outcome.result === 'processing');
}

/** Whether the processor said that the customer has to go to the issuer, or is there. */
export function isChallenge(outcome: ProcessorOutcome | 'not_found'): boolean {
  return typeof outcome === 'object' && outcome.result === 'challenge';
}

/**
 * Whether a transaction that is watched since `began` has to be polled again: the processor has no outcome, or its
 * look-up may lag behind its notifications. Epoch milliseconds.
 */
export function isUndecided(
  answer: Exclude<ProcessorOutcome, AmountMismatch> | 'not_found',
  began: number,
  now: number,
): boolean {
  return answer === 'not_found' ? mayLookUpLag(began, now) : isOutcomeMissing(answer);
}

/** Whether the processor said that it took the money. */
export function isApproved(outcome: ProcessorOutcome | 'not_found'): boolean {
  return typeof outcome === 'object' && outcome.result === 'approved';
}

/** Whether the processor said that it did not take the money. */
export function isDeclined(outcome: ProcessorOutcome | 'not_found'): boolean {
  return typeof outcome === 'object' && outcome.result !== 'mismatch' && STATUS_AFTER[outcome.result] === 'error';
}

const STATUS_AFTER: Record<ProcessorResult['result'], TransactionStatus> = {
  approved: 'accepted',
  declined: 'error',
  refused: 'error',
  error: 'error',
  challenge: 'pending',
  processing: 'processing',
};

const EVENT_RESULT: Partial<Record<ProcessorResult['result'], EventResult>> = {
  approved: 'approved',
  declined: 'declined',
  refused: 'failed',
  error: 'failed',
};

/**
 * Recorded with every approval: merchants recognize a paid order by the code (rules 4.8). ISO 8583 has further codes of
 * approvals, such as 85 of a card check.
 */
const APPROVAL = { response_code: '00', response_code_description: 'Approved' };

/**
 * The status that follows from an outcome of the processor, and the details recorded with it. `now` in epoch
 * milliseconds by the order's clock, which is `clock_offset_ms` ahead of the processor's (rules 23.4).
 */
export function outcomeOf(
  outcome: ProcessorOutcome,
  { now, clock_offset_ms }: { now: number; clock_offset_ms: number },
): { to: TransactionStatus; details: MoveDetails } {
  if (outcome === 'unknown' || isMismatch(outcome)) return { to: 'processing', details: { source: 'service', now } };
  const { result, response_code, response_code_description, challenge_url, three_ds, occurred } = outcome;
  const code =
    result === 'approved'
      ? { ...APPROVAL, ...(response_code && response_code_description ? { response_code_description } : {}) }
      : { response_code, response_code_description };
  return {
    to: STATUS_AFTER[result],
    details: {
      source: 'processor',
      now,
      occurred: clock_offset_ms === 0 ? occurred : new Date(Date.parse(occurred) + clock_offset_ms).toISOString(),
      result: EVENT_RESULT[result],
      ...(result === 'declined' && { authorization_iso_response_code: response_code }),
      transaction: {
        ...code,
        challenge_url,
        received_3ds_result: three_ds?.result,
        liability_shift: three_ds?.liability_shift,
      },
    },
  };
}

/** The facts known about a charge. */
export interface ChargeOutcome {
  transaction_id: string;
  /** `not_found`: the processor does not know the charge and has not executed it. */
  outcome: ProcessorOutcome | 'not_found';
  /** Epoch milliseconds by the workflow's clock. */
  now: number;
  /** Epoch milliseconds of real time, which is later than `now` if the task waited for a worker. */
  machine_now: number;
  /** When the processor was asked, epoch milliseconds by the order's clock; absent: now. */
  asked_at?: number | undefined;
  /** The payment method of the charge, if not recorded yet. */
  paid_with?: MoveDetails['transaction'];
}

/** The consequence for the order: nothing, sending the charge, or a move. */
export type OutcomePlan = { action: 'keep' } | { action: 'send' } | ({ action: 'move' } & PlannedMove);

/**
 * The consequence of the facts known about a charge.
 *
 * - A transaction that is `cancelled`, `expired` or `error` keeps its status; an approval is reversed (rules 10.11). So
 *   does one that an operator has set to `accepted` meanwhile; a contradiction needs attention (rules 10.14).
 * - `unknown`: changes nothing once the charge is recorded as sent.
 * - An answer about another amount: the transaction is `processing` until an operator has acted.
 * - `not_found`: send the charge again until `expires_at`, then the transaction is `error` (rules 10.2), unless the
 *   processor was asked before: another try may have sent it since.
 * - A challenge after `expires_at`: record it, then plan again from the moved order; the second plan expires the order.
 *
 * Throws ForbiddenMove for a transaction of another order.
 */
export function planOutcome(order: OrderSnapshot, facts: ChargeOutcome): OutcomePlan {
  const { transaction_id, outcome, now, machine_now, asked_at, paid_with } = facts;
  const transaction = transactionOf(order, transaction_id);
  if (transaction === undefined) throw new ForbiddenMove(`transaction ${transaction_id} is of another order`);
  const { status, expires_at } = transaction;

  if (outcome === 'not_found') {
    if (!isAttemptOpen(status)) return { action: 'keep' };
    const current = Math.max(now, machine_now + order.clock_offset_ms);
    if (!isExpired(expires_at, current)) return { action: 'send' };
    if (!isExpired(expires_at, asked_at ?? current)) return { action: 'keep' };
    return {
      action: 'move',
      ...outcomeMove(order, transaction, 'error', { source: 'service', now, result: 'failed' }),
    };
  }
  if (!isAttemptOpen(status) || (outcome === 'unknown' && status !== 'new')) return { action: 'keep' };

  const { to, details } = outcomeOf(outcome, { now, clock_offset_ms: order.clock_offset_ms });
  const known = { ...details, transaction: { ...paid_with, ...details.transaction } };
  if (to === 'accepted' || to === 'error') return { action: 'move', ...outcomeMove(order, transaction, to, known) };
  if (canMove(TRANSACTION_MOVES, status, to)) return { action: 'move', change: { transaction_id, to }, details: known };
  return to === 'pending' && status === 'pending' && isExpired(expires_at, now)
    ? { action: 'move', change: { ended: 'expired' }, details: { source: 'service', now } }
    : { action: 'keep' };
}

/** The move that gives a charge its outcome. */
function outcomeMove(
  order: OrderSnapshot,
  { id: transaction_id, capture }: TransactionSnapshot,
  to: 'accepted' | 'error',
  details: MoveDetails,
): PlannedMove {
  const { now } = details;
  if (to === 'error') {
    // Declined after expires_at: there is no further attempt (rules 4.9).
    const ended = isExpired(order.expires_at, now) && { ended: 'expired' as const };
    return { change: { transaction_id, to, ...ended }, details };
  }
  if (capture !== undefined) {
    return { change: { transaction_id, to, capture_ends_at: now + parseDuration(capture.capture_period) }, details };
  }
  // A sale takes the money at once (rules 8.1).
  const transaction = { ...details.transaction, captured_amount: order.amount };
  return { change: { transaction_id, to }, details: { ...details, transaction } };
}

/** An outcome that an operator sets where the processor will never give one (rules 10.14). */
export interface ManualOutcome {
  outcome: (typeof MANUAL_OUTCOMES)[number];
  /** Why; recorded with the event. */
  reason: string;
}

/** The move of an outcome that an operator sets, and the details recorded with it. `now` in epoch milliseconds. */
export function moveForManualOutcome({ outcome, reason }: ManualOutcome, now: number) {
  const details: MoveDetails = { source: 'operator', now, result: outcome, reason };
  return outcome === 'approved'
    ? { to: 'accepted' as const, details: { ...details, transaction: APPROVAL } }
    : { to: 'error' as const, details };
}

/**
 * The move of a charge whose outcome an operator sets; undefined when its outcome is no longer awaited. `now` in epoch
 * milliseconds.
 */
export function planManualOutcome(
  order: OrderSnapshot,
  { transaction_id, ...manual_outcome }: ManualOutcome & { transaction_id: string },
  now: number,
): PlannedMove | undefined {
  const last = latestAttempt(order);
  if (last?.id !== transaction_id || !isSettableByHand(order, now)) return undefined;
  const { to, details } = moveForManualOutcome(manual_outcome, now);
  return outcomeMove(order, last, to, details);
}

/**
 * The text of `Attention` when the processor contradicts the recorded outcome of a transaction; undefined when it does
 * not.
 */
export function contradictionOf(
  order: Pick<OrderSnapshot, 'amount' | 'currency'>,
  { status, outcome_set_by_hand }: Pick<TransactionSnapshot, 'status' | 'outcome_set_by_hand'>,
  outcome: ProcessorOutcome | 'not_found',
): string | undefined {
  if (typeof outcome === 'string') return undefined;
  const recorded = status === 'error' ? 'error' : 'accepted';
  const as = `${outcome_set_by_hand ? 'set by hand' : 'recorded'} as ${recorded === 'error' ? 'declined' : 'approved'}`;
  if (isMismatch(outcome)) return `${as}, but ${mismatchInWords(outcome, order)}`;
  const to = STATUS_AFTER[outcome.result];
  if (to === recorded || (to !== 'accepted' && to !== 'error')) return undefined;
  return `${as}, but the processor says ${outcome.result}`;
}
