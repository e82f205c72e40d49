import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { linkReason, type PaymentLinkSnapshot } from '../src/domain/payment-link';
import { PAYMENT_LINK_MOVES, isFinal } from '../src/domain/transitions';
import { linkWait } from '../src/domain/waits';
import { linkTo, waitInWords } from './operator-view';
import { PAYMENT_LINK_STATUS } from './search-attributes';

/** Shows a payment link in the Web UI: status as a search attribute, the rest as details. */
export function showPaymentLink(link: PaymentLinkSnapshot): void {
  const { namespace, typedSearchAttributes } = workflowInfo();
  // Each change costs an event. The start request sets PaymentLinkStatus to `new`; a new run keeps it.
  if ((typedSearchAttributes.get(PAYMENT_LINK_STATUS) ?? 'new') !== link.status) {
    upsertSearchAttributes([{ key: PAYMENT_LINK_STATUS, value: link.status }]);
  }
  setCurrentDetails(describePaymentLink(link, namespace));
}

/** The details in the Web UI: the status, its reason, the current wait, and links to the orders. */
export function describePaymentLink(link: PaymentLinkSnapshot, namespace: string): string {
  const wait = linkWait(link);
  const waits = isFinal(PAYMENT_LINK_MOVES, link.status)
    ? `Nothing is awaited: ${link.status} is final.`
    : wait === undefined
      ? 'Waits for the outcome of the payment.'
      : waitInWords(wait);
  const orders = link.order_ids.map((id, index) => `- attempt ${index + 1}: ${linkTo(id, namespace)}`);
  return [`**${link.status}**: ${linkReason(link)}`, waits, ...orders].join('\n\n');
}
