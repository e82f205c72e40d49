import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { openAuthorization, type Authorization } from '../src/domain/authorization';
import {
  awaitsOutcome,
  isOutcomeOpen,
  lastTransaction,
  paymentExpiresAt,
  type OrderRecord,
} from '../src/domain/order-record';
import { POLLS_BEFORE_ATTENTION } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { ATTENTION, ORDER_STATUS, orderWorkflowId, type FollowUpInput } from './messages';

/** What the Web UI says about the update settleByHand. */
export const SETTLE_BY_HAND =
  'Settles an outcome that the processor will never give: {"outcome": "approved" or "declined", "reason": "…"}. ' +
  'The processor is asked first. If it contradicts the settlement later, an approval is given back, and anything else needs attention.';

/** What an operator reads when an outcome has been missing for a day. */
const OUTCOME_OVERDUE = 'the processor does not tell the outcome';

/**
 * Shows an order in the Web UI: status and attention as search attributes, the rest as details. `polls`: how often the
 * processor was asked by schedule for the present outcome.
 */
export function show(order: OrderRecord, polls: number, details: string): void {
  const shown = workflowInfo().typedSearchAttributes;
  const attention = attentionTo(order, polls);
  // Each change costs an event. The start request sets OrderStatus to `new`.
  if ((shown.get(ORDER_STATUS) ?? 'new') !== order.status) {
    upsertSearchAttributes([{ key: ORDER_STATUS, value: order.status }]);
  }
  if (shown.get(ATTENTION) !== attention) upsertSearchAttributes([{ key: ATTENTION, value: attention ?? null }]);
  setCurrentDetails(attention === undefined ? details : `**Attention: ${attention}.**\n\n${details}`);
}

/** What an operator has to look at; undefined when there is nothing, or not any more. */
export function attentionTo(order: OrderRecord, polls: number): string | undefined {
  return order.attention ?? (isOutcomeOpen(order) && polls >= POLLS_BEFORE_ATTENTION ? OUTCOME_OVERDUE : undefined);
}

/** What an operator reads in the Web UI: status, amount, what the order waits for and until when, in words. */
export function describe(order: OrderRecord, namespace: string): string {
  const lines = [headline(order), inWords(order)];
  for (const { attempt, status } of order.transactions) {
    lines.push(`- attempt ${attempt} of ${order.attempts_max}: ${status}`);
  }
  for (const { kind, id: order_id, status } of order.closings ?? []) {
    lines.push(`- ${kind} at the end of the window, ${linkTo(order_id, namespace)}: ${status}`);
  }
  return lines.join('\n\n');
}

/** Like describe, for a capture, void, refund, chargeback or reversal. */
export function describeFollowUp(
  { kind, requested_by, original_order_id }: FollowUpInput,
  order: OrderRecord,
  namespace: string,
): string {
  return [
    headline(order),
    followUpInWords(order),
    `A ${kind} of ${linkTo(original_order_id, namespace)}, requested by the ${requested_by}.`,
  ].join('\n\n');
}

/** What a follow-up order waits for, in words. */
export function followUpInWords(order: OrderRecord): string {
  return isFinal(ORDER_MOVES, order.status)
    ? `Nothing is awaited: ${order.status} is final.`
    : "Waits for the processor's outcome; it is asked again and again.";
}

/** A link to the order's workflow within the Web UI. */
const linkTo = (order_id: string, namespace: string) =>
  `[${orderWorkflowId(order_id)}](/namespaces/${namespace}/workflows/${orderWorkflowId(order_id)})`;

const headline = ({ status, amount, currency }: OrderRecord) => `**${status}**, ${amount} ${currency} (minor units)`;

/** What the order waits for and until when, in words. */
export function inWords(order: OrderRecord): string {
  const authorization = openAuthorization(order);
  if (authorization !== undefined) return authorizationInWords(authorization);
  if (isFinal(ORDER_MOVES, order.status)) return `Nothing is awaited: ${order.status} is final.`;
  const last = lastTransaction(order);
  const until = new Date(paymentExpiresAt(order)).toISOString();
  if (last !== undefined && awaitsOutcome(order)) {
    return `Waits for the processor's outcome of attempt ${last.attempt}; it is asked again and again.`;
  }
  if (last?.status === 'pending') return `Waits for the customer to finish 3-D Secure, until ${until}.`;
  if (last?.status === 'error') return `Waits for the customer to try again, until ${until}.`;
  return `Waits for the customer to pay, until ${until}.`;
}

function authorizationInWords({ capture_mode, capture_ends_at, reserved, unanswered }: Authorization): string {
  const until = new Date(capture_ends_at).toISOString();
  const asked = unanswered === 0 ? '' : ` The processor has not answered about ${unanswered}.`;
  const rest =
    capture_mode === 'manual'
      ? `Holds ${reserved}, which the merchant captures or voids until ${until}; then it is released.`
      : `Holds ${reserved}, which is captured at ${until} unless it is voided.`;
  return `${rest}${asked}`;
}
