import { isExpired } from './order';
import { latestAttempt, outcomeAwaitedFrom, paymentExpiresAt, type OrderSnapshot } from './order-snapshot';
import { POLLS_BEFORE_ATTENTION } from './transaction';
import { mismatchInWords } from './waits';
import { DAY_MS } from './period';

/** The texts of `Attention`: why an operator has to act (rules 24.19). */

/** The kinds of objects that an operator may have to look at. */
export const ATTENTION_KINDS = ['order', 'webhook', 'settlements', 'search_index', 'workflow'] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** Separates the reasons of an order that has several. */
export const REASON_SEPARATOR = '; ';

/** The record of a workflow is lost (rules 10.19). */
export const RECORD_LOST = 'the record does not exist any more';
/** The processor has not said for a day whether it approved a payment that ended unpaid (rules 10.12). */
export const LATE_APPROVAL_OVERDUE = 'the processor has given no answer about a late approval for a day';
/** The processor has not said for a day what an operation is that it announced (rules 10.9). */
export const ANNOUNCED_OVERDUE = 'the processor has given no answer for a day about an operation that it announced';
/** The processor has not said for a day whether it has another outcome than the one on record (rules 10.14, 10.18). */
export const CONTRADICTION_OVERDUE =
  'the processor has given no answer for a day about a sign that it has another outcome';
/** More goes back to the customer than was captured (rules 9.10). */
export const OVERDRAWN = 'refunded and charged back beyond what was captured';
const OUTCOME_OVERDUE = 'the processor has given no outcome for about a day';

/** Of an order: all its reasons. Undefined when the operator has nothing to do. */
export function attentionTo(order: OrderSnapshot): string | undefined {
  return reasonsInWords([order.attention, outcomeAttention(order)]);
}

/** Several reasons as one text; undefined without any. */
export function reasonsInWords(reasons: readonly (string | undefined)[]): string | undefined {
  return reasons.filter((reason) => reason !== undefined).join(REASON_SEPARATOR) || undefined;
}

/** The reason to look at an order whose outcome is overdue. */
function outcomeAttention(order: OrderSnapshot): string | undefined {
  const awaited_from = outcomeAwaitedFrom(order);
  if (awaited_from === undefined) return undefined;
  const { answered, polls = 0, poll_at = 0 } = latestAttempt(order)!;
  if (answered !== undefined) return mismatchInWords(answered, order);
  // The processor owes nothing while the customer is at the issuer and has time left.
  const is_owed = awaited_from === 'processor' || isExpired(paymentExpiresAt(order), poll_at);
  return is_owed && polls >= POLLS_BEFORE_ATTENTION ? OUTCOME_OVERDUE : undefined;
}

/**
 * Of settlements that wait for their transactions, the oldest of them fetched at `waiting_since`: after a day it is an
 * error of the service or the processor. Epoch milliseconds.
 */
export function settlementsAttention(waiting_since: number | undefined, now: number): string | undefined {
  const is_overdue = waiting_since !== undefined && now - waiting_since > DAY_MS;
  return is_overdue ? 'a settlement has waited for its transaction for more than a day' : undefined;
}

/** Of the search index, when it refuses orders. */
export const indexAttention = (refused: number): string | undefined =>
  refused > 0 ? `the search index refuses ${refused} orders` : undefined;
