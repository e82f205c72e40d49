import type { MerchantOperations, MerchantServices } from '../merchant';
import { advanceOrderClock } from './advance-order-clock';
import { advancePaymentLinkClock } from './advance-payment-link-clock';
import { cancelOrder } from './cancel-order';
import { captureTransaction } from './capture-transaction';
import { captureTransactionAmount } from './capture-transaction-amount';
import { createOrder } from './create-order';
import { createPaymentLink } from './create-payment-link';
import { createReceiverCheck } from './create-receiver-check';
import { endPaymentLink } from './end-payment-link';
import { getOrder } from './get-order';
import { getPaymentLink } from './get-payment-link';
import { getProject } from './get-project';
import { getReceiverCheck } from './get-receiver-check';
import { getRequest } from './get-request';
import { getTimeline } from './get-timeline';
import { getTotals } from './get-totals';
import { listCurrencies } from './list-currencies';
import { listOrderRequests } from './list-order-requests';
import { listOrderWebhooks } from './list-order-webhooks';
import { listOrders } from './list-orders';
import { listPaymentLinks } from './list-payment-links';
import { listRequests } from './list-requests';
import { getWebhookRecovery } from './get-webhook-recovery';
import { listWebhookEvents } from './list-webhook-events';
import { listWebhookRecoveries } from './list-webhook-recoveries';
import { pauseWebhookRecovery } from './pause-webhook-recovery';
import { recoverWebhooks } from './recover-webhooks';
import { resumeWebhookRecovery } from './resume-webhook-recovery';
import { stopWebhookRecovery } from './stop-webhook-recovery';
import { redeliverOrderWebhook } from './redeliver-order-webhook';
import { refundOrder } from './refund-order';
import { searchOrders } from './search-orders';
import { updateOrder } from './update-order';
import { voidTransaction } from './void-transaction';
import { voidTransactionAmount } from './void-transaction-amount';

/** Every use case of the contract: a missing one does not compile. */
export function createOperations(services: MerchantServices): MerchantOperations {
  return {
    createOrder: createOrder(services),
    listOrders: listOrders(services),
    getOrder: getOrder(services),
    getTimeline: getTimeline(services),
    advanceOrderClock: advanceOrderClock(services),
    updateOrder: updateOrder(services),
    cancelOrder: cancelOrder(services),
    listOrderWebhooks: listOrderWebhooks(services),
    redeliverOrderWebhook: redeliverOrderWebhook(services),
    createReceiverCheck: createReceiverCheck(services),
    getReceiverCheck: getReceiverCheck(services),
    refundOrder: refundOrder(services),
    captureTransaction: captureTransaction(services),
    captureTransactionAmount: captureTransactionAmount(services),
    voidTransaction: voidTransaction(services),
    voidTransactionAmount: voidTransactionAmount(services),
    recoverWebhooks: recoverWebhooks(services),
    listWebhookEvents: listWebhookEvents(services),
    listWebhookRecoveries: listWebhookRecoveries(services),
    getWebhookRecovery: getWebhookRecovery(services),
    pauseWebhookRecovery: pauseWebhookRecovery(services),
    resumeWebhookRecovery: resumeWebhookRecovery(services),
    stopWebhookRecovery: stopWebhookRecovery(services),
    createPaymentLink: createPaymentLink(services),
    listPaymentLinks: listPaymentLinks(services),
    getPaymentLink: getPaymentLink(services),
    endPaymentLink: endPaymentLink(services),
    advancePaymentLinkClock: advancePaymentLinkClock(services),
    searchOrders: searchOrders(services),
    listRequests: listRequests(services),
    getRequest: getRequest(services),
    listOrderRequests: listOrderRequests(services),
    getTotals: getTotals(services),
    getProject,
    listCurrencies,
  };
}
