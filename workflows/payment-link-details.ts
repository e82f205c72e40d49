import { linkReason, type PaymentLinkRecord } from '../src/domain/payment-link';
import { PAYMENT_LINK_MOVES, isFinal } from '../src/domain/transitions';
import { linkWait } from '../src/domain/waits';
import { orderWorkflowId } from './messages';
import { waitInWords } from './operator-view';

/**
 * What an operator reads in the Web UI: the status, its reason, what is awaited and until when, and the orders a click
 * away.
 */
export function describePaymentLink(link: PaymentLinkRecord, namespace: string): string {
  const linkTo = (order_id: string) =>
    `[${orderWorkflowId(order_id)}](/namespaces/${namespace}/workflows/${orderWorkflowId(order_id)})`;
  const wait = linkWait(link);
  const waits = isFinal(PAYMENT_LINK_MOVES, link.status)
    ? `Nothing is awaited: ${link.status} is final.`
    : wait === undefined
      ? 'Waits for the outcome of the payment.'
      : waitInWords(wait);
  const orders = link.order_ids.map((id, index) => `- attempt ${index + 1}: ${linkTo(id)}`);
  return [`**${link.status}**: ${linkReason(link)}`, waits, ...orders].join('\n\n');
}
