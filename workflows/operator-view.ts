import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { openAuthorization } from '../src/domain/authorization';
import { attentionTo } from '../src/domain/attention';
import type { OrderSnapshot } from '../src/domain/order-snapshot';
import { asMarkdown } from '../src/domain/shown-text';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { minorUnitsInWords, waitsOf, type Wait } from '../src/domain/waits';
import { ATTENTION, ORDER_STATUS, orderWorkflowId, type FollowUpInput } from './messages';

/** The description of the update setOutcome in the Web UI. */
export const SET_OUTCOME =
  'Sets an outcome that the processor will never give: ' +
  '{"transaction_id": "…", "outcome": "approved" or "declined", "reason": "…"}. ' +
  'The processor is polled first. If it contradicts the outcome later, an approval is reversed; anything else gets Attention.';

/** Temporal's visibility store on PostgreSQL holds no longer value of a search attribute. */
const ATTRIBUTE_LENGTH_MAX = 255;

/** Sets the search attribute to as much as it holds; the details show all of it. `false`: it was set so before. */
export function upsertAttention(attention: string | undefined): boolean {
  const value = attention?.slice(0, ATTRIBUTE_LENGTH_MAX);
  if (workflowInfo().typedSearchAttributes.get(ATTENTION) === value) return false;
  upsertSearchAttributes([{ key: ATTENTION, value: value ?? null }]);
  return true;
}

/** Shows `attention` while there is no order to show; `undefined` clears it. */
export function showAttention(attention: string | undefined): void {
  if (!upsertAttention(attention)) return;
  setCurrentDetails(attention === undefined ? '' : attentionLine(attention));
}

/** `Attention` as Markdown, escaped: it may quote the processor. */
const attentionLine = (attention: string) => `**Attention: ${asMarkdown(attention)}.**`;

/** Shows an order in the Web UI: status and attention as search attributes, the rest as details. */
export function showOrder(order: OrderSnapshot, details: string): void {
  const shown = workflowInfo().typedSearchAttributes;
  const attention = attentionTo(order);
  // Each change costs an event. The start request sets OrderStatus to `new`.
  if ((shown.get(ORDER_STATUS) ?? 'new') !== order.status) {
    upsertSearchAttributes([{ key: ORDER_STATUS, value: order.status }]);
  }
  upsertAttention(attention);
  setCurrentDetails(attention === undefined ? details : `${attentionLine(attention)}\n\n${details}`);
}

/** The details in the Web UI: status, amount, and the waits of the order in words. */
export function describeOrder(order: OrderSnapshot, namespace: string): string {
  const lines = [headline(order), inWords(order)];
  for (const { attempt, status } of order.transactions) {
    lines.push(`- attempt ${attempt} of ${order.attempts_max}: ${status}`);
  }
  for (const { kind, id: order_id, status } of order.closings ?? []) {
    lines.push(`- ${kind} at the end of the window, ${linkTo(order_id, namespace)}: ${status}`);
  }
  return lines.join('\n\n');
}

/** Like describeOrder, for a capture, void, refund, chargeback or reversal. */
export function describeFollowUp(
  { kind, requested_by, original_order_id }: FollowUpInput,
  order: OrderSnapshot,
  namespace: string,
): string {
  return [
    headline(order),
    inWords(order),
    `A ${kind} of ${linkTo(original_order_id, namespace)}, requested by the ${requested_by}.`,
  ].join('\n\n');
}

/** A link to the order's workflow within the Web UI. */
export const linkTo = (order_id: string, namespace: string) =>
  `[${orderWorkflowId(order_id)}](/namespaces/${namespace}/workflows/${orderWorkflowId(order_id)})`;

const headline = ({ status, amount, currency }: OrderSnapshot) => `**${status}**, ${amount} ${currency} (minor units)`;

/** The waits of an order of any kind, in the words of its timeline. */
export function inWords(order: OrderSnapshot): string {
  const unanswered = openAuthorization(order)?.unanswered ?? 0;
  const sentences = [
    ...waitsOf(order, minorUnitsInWords).map(waitInWords),
    ...(unanswered > 0 ? [`The processor has not answered about ${unanswered}.`] : []),
  ];
  if (sentences.length > 0) return sentences.join(' ');
  return isFinal(ORDER_MOVES, order.status) ? `Nothing is awaited: ${order.status} is final.` : 'Asks the processor.';
}

/**
 * A wait as an operator reads it: `Captures 1250 EUR (minor units) automatically, at
 * 2026-01-15T13:00:00.000Z.`
 */
export function waitInWords({ at, text }: Wait): string {
  return at === 0 ? `${text}.` : `${text}, at ${new Date(at).toISOString()}.`;
}
