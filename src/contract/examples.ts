import { linkPagePath, orderPagePath } from '../domain/page-paths';
import type { Order } from './order';
import type { Transaction } from './transaction';
import type { DeliveryAnswer } from './delivery';
import type { WebhookRecoveryAnswer } from './webhook-recovery';
import type { PaymentLink } from './payment-link';
import type { ReceiverCheckAnswer } from './receiver-check';
import type { LOGGED_ROUTES, LoggedRequestAnswer, REQUEST_ROUTES } from './request-log';
import type { Examples } from './routes';

const ORDER_ID = '1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34';
const PROJECT_ID = '0b1b8c1e-54a4-4b7c-9a8e-0f4f2f7f3c11';
const MERCHANT_ID = '5d3b8f0a-7b7e-4a63-8a8f-2f5b7f1c9d22';
const TRANSACTION_ID = '7e0a4b16-2c5d-4f8e-8b1a-3d9c6e5f4a20';

const OWNER = { project_id: PROJECT_ID, merchant_id: MERCHANT_ID };
const PURCHASE = { merchant_order_id: 'A-1001', description: 'Two tickets', currency: 'EUR' };
const APPROVED = { status: 'accepted', response_code: '00', response_code_description: 'Approved' } as const;

const anOrder: Order = {
  id: ORDER_ID,
  ...OWNER,
  merchant_name: 'Demo merchant',
  ...PURCHASE,
  amount: 2500,
  status: 'new',
  flags: ['is-test'],
  created: '2026-01-15T12:00:05.433502+00:00',
  modified: '2026-01-15T12:00:05.433502+00:00',
  expiration_period: 'PT30M',
  order_url: `https://payments.example.com${orderPagePath(ORDER_ID)}`,
  return_url: 'https://shop.example.com/thanks',
};
const newOrder: Order = { ...anOrder, expires_at: '2026-01-15T12:30:05.433502+00:00' };

export const DELIVERY_EXAMPLE: DeliveryAnswer = {
  id: `${ORDER_ID}-1`,
  order_id: ORDER_ID,
  project_id: PROJECT_ID,
  event: 'status_changed',
  url: 'https://shop.example.com/webhooks',
  status: 'new',
  created: '2026-01-15T12:00:06.120000+00:00',
  next_attempt_at: '2026-01-15T12:02:06.171000+00:00',
  attempts: [
    { n: 1, started: '2026-01-15T12:00:06.130000+00:00', duration_ms: 41, status_code: 500, error: 'answered 500' },
  ],
};
const { next_attempt_at, ...tried } = DELIVERY_EXAMPLE;
const delivered: DeliveryAnswer = {
  ...tried,
  status: 'delivered',
  attempts: [...tried.attempts, { n: 2, started: next_attempt_at!, duration_ms: 38, status_code: 204 }],
};
export const REDELIVERY_EXAMPLE: DeliveryAnswer = {
  ...DELIVERY_EXAMPLE,
  id: `${ORDER_ID}-2`,
  status: 'new',
  created: '2026-01-16T09:30:00.310000+00:00',
  next_attempt_at: '2026-01-16T09:30:00.310000+00:00',
  redelivery_of: DELIVERY_EXAMPLE.id,
  attempts: [],
};

export const RECOVERY_EXAMPLE: WebhookRecoveryAnswer = {
  id: '5f0c7e1a-2d3b-4c68-9a1f-7e6d5c4b3a29',
  project_id: PROJECT_ID,
  since: '2026-01-15T10:00:00.000000+00:00',
  until: '2026-01-15T12:10:00.000000+00:00',
  status: 'running',
  remaining: 1_870,
  sent: 130,
  delivered: 121,
  created: '2026-01-15T12:10:00.000000+00:00',
  modified: '2026-01-15T12:10:13.412000+00:00',
};
const { since, until } = RECOVERY_EXAMPLE;
export const RECOVERY_EXAMPLES = {
  getWebhookRecovery: { params: { recovery_id: RECOVERY_EXAMPLE.id }, answer: RECOVERY_EXAMPLE },
  pauseWebhookRecovery: {
    params: { recovery_id: RECOVERY_EXAMPLE.id },
    answer: { ...RECOVERY_EXAMPLE, status: 'paused', paused_by: 'request' },
  },
  resumeWebhookRecovery: { params: { recovery_id: RECOVERY_EXAMPLE.id }, answer: RECOVERY_EXAMPLE },
  stopWebhookRecovery: {
    params: { recovery_id: RECOVERY_EXAMPLE.id },
    answer: { ...RECOVERY_EXAMPLE, status: 'stopped' },
  },
} as const;
export const RECOVER_REQUEST_EXAMPLE = { since, until };
const CHECK_ID = '3e9d1f70-5b2c-4a81-8f6d-0c4b7a9e1d52';

const runningCheck: ReceiverCheckAnswer = {
  id: CHECK_ID,
  project_id: PROJECT_ID,
  workflow_id: `receiver-check:${CHECK_ID}`,
  webhook_url: 'https://shop.example.com/webhooks',
  status: 'running',
  created: '2026-01-15T12:00:05.433000+00:00',
  cases: [],
};
const forgedWebhook: ReceiverCheckAnswer['cases'][number] = {
  case: 'wrong_signature',
  result: 'failed',
  text: 'It accepted a webhook with a wrong signature. In production anybody who knows its address can tell it that an order has changed.',
  mend: 'Compute the signature over webhook-id, webhook-timestamp and the raw body, compare it in constant time, and answer 401 when none is equal.',
  webhooks: [
    {
      order_id: ORDER_ID,
      webhook_id: `webhook:${ORDER_ID}:1`,
      expected: 'refused',
      sent: '2026-01-15T12:00:06.120000+00:00',
      duration_ms: 41,
      status_code: 200,
    },
  ],
  reads: [
    {
      request_id: '01a0c8a1-4a1f-4cf1-9d3e-1f2a3b4c5d6e',
      order_id: ORDER_ID,
      api_key_id: 'k3v9q2p7',
      received: '2026-01-15T12:00:06.140000+00:00',
      status: 200,
    },
  ],
};

const LINK_ID = '2b7d4c90-8e1f-4a35-b6c2-9d0e1f2a3b48';

const linkThatEnded: PaymentLink = {
  id: LINK_ID,
  ...OWNER,
  merchant_order_id: 'L-1001',
  amount: 2500,
  currency: 'EUR',
  description: 'Two tickets',
  expiration_period: 'P30D',
  payment_url: `https://payments.example.com${linkPagePath(LINK_ID)}`,
  status: 'new',
  reason: 'No payment was tried yet.',
  orders: {},
  created: '2026-01-15T12:00:05.433000+00:00',
  modified: '2026-01-15T12:00:05.433000+00:00',
};
const newLink: PaymentLink = { ...linkThatEnded, expires_at: '2026-02-14T12:00:05.433000+00:00' };

const CAPTURE_ID = '5f2e7c61-0b9a-4d38-a1f4-8c7d6e5b4a30';

/** A follow-up order of the example, of 1000 unless told otherwise. */
const followUp = (kind: 'capture' | 'void' | 'refund', over: Partial<Order> = {}): Order => ({
  id: CAPTURE_ID,
  ...OWNER,
  merchant_name: 'Demo merchant',
  ...PURCHASE,
  amount: 1000,
  status: 'completed',
  flags: ['is-test', `is-${kind}`],
  created: '2026-01-16T09:30:00.120000+00:00',
  modified: '2026-01-16T09:30:00.310000+00:00',
  completed: '2026-01-16T09:30:00.310000+00:00',
  [`${kind}_of_order_id`]: ORDER_ID,
  related_order_id: ORDER_ID,
  transactions: [
    {
      id: '9a1c3e57-4b6d-4f80-9c2e-1d3f5a7b9c11',
      order_id: CAPTURE_ID,
      created: '2026-01-16T09:30:00.120000+00:00',
      modified: '2026-01-16T09:30:00.310000+00:00',
      amount: 1000,
      currency: 'EUR',
      credit_debit: kind === 'capture' ? 'credit' : 'debit',
      payment_method: kind === 'refund' ? 'credit-card-refund' : 'credit-card',
      payment_method_brand: 'visa',
      transaction_type: kind,
      ...(kind === 'refund' && { refund_of_transaction_id: TRANSACTION_ID }),
      status: 'accepted',
      outcomes: { processing: APPROVED },
    },
  ],
  ...over,
});
const transactionParams = { order_id: ORDER_ID, transaction_id: TRANSACTION_ID };

const paidTransaction: Transaction = {
  id: TRANSACTION_ID,
  order_id: ORDER_ID,
  created: '2026-01-15T12:01:39.880154+00:00',
  modified: '2026-01-15T12:01:40.107221+00:00',
  amount: 2500,
  currency: 'EUR',
  credit_debit: 'credit',
  payment_method: 'credit-card',
  payment_method_brand: 'visa',
  payment_method_details: { truncated_pan: '411111******1111', card_expiry: '122030', cardholder_name: 'A. Customer' },
  expiration_period: 'PT30M',
  is_capturable: false,
  captured_amount: 2500,
  status: 'accepted',
  events: [
    {
      id: '3b8d2f70-9c41-4a5e-8f06-1e2d3c4b5a69',
      event: 'new',
      occurred: '2026-01-15T12:01:39.880154+00:00',
      noticed: '2026-01-15T12:01:39.880154+00:00',
      source: 'customer',
    },
    {
      id: 'c5e7a914-0d36-4b82-9a7f-6b5c4d3e2f18',
      event: 'accepted',
      occurred: '2026-01-15T12:01:40.101000+00:00',
      noticed: '2026-01-15T12:01:40.107221+00:00',
      source: 'processor',
      result: 'approved',
    },
  ],
  outcomes: { processing: APPROVED },
};
const paidOrder: Order = {
  ...anOrder,
  status: 'completed',
  modified: '2026-01-15T12:01:40.107221+00:00',
  completed: '2026-01-15T12:01:40.107221+00:00',
  transactions: [paidTransaction],
};

/** Reserved, and not captured yet. */
const { captured_amount: _, ...reserved } = paidTransaction;
const authorizedOrder: Order = {
  ...paidOrder,
  transactions: [
    {
      ...reserved,
      transaction_type: 'authorization',
      capture_mode: 'manual',
      expiration_period: 'P5D',
      is_capturable: true,
      capture_before: '2026-01-20T12:01:40.101000+00:00',
    },
  ],
};

const createdRequest: LoggedRequestAnswer = {
  id: 'e1b0c9d8-7a6f-4e5d-8c3b-2a1908f7e6d5',
  received: '2026-01-15T12:00:05.431000+00:00',
  operation: 'createOrder',
  method: 'POST',
  path: '/v1/orders/',
  status: 200,
  duration_ms: 38,
  idempotency_key: 'A-1001',
  is_repeat: false,
  api_key_id: '0123456789ab',
  order_id: ORDER_ID,
  object_id: ORDER_ID,
};
const refusedRequest: LoggedRequestAnswer = {
  id: '4d2c1b0a-9f8e-4d7c-b6a5-948372615049',
  received: '2026-01-16T09:29:41.902000+00:00',
  operation: 'refundOrder',
  method: 'POST',
  path: '/v1/orders/{order_id}/refunds/',
  status: 400,
  duration_ms: 3,
  error_type: 'ValidationError',
  error_fields: ['amount'],
  is_repeat: false,
  api_key_id: '0123456789ab',
  order_id: ORDER_ID,
};

/** An example of every operation of the merchants' API. */
export const EXAMPLES: Examples<typeof LOGGED_ROUTES & typeof REQUEST_ROUTES> = {
  listOrderWebhooks: { params: { order_id: ORDER_ID }, answer: [REDELIVERY_EXAMPLE, delivered] },
  redeliverOrderWebhook: { params: { order_id: ORDER_ID, n: '1' }, answer: REDELIVERY_EXAMPLE },
  listWebhookEvents: {
    answer: {
      items: [
        {
          webhook_id: `webhook:${ORDER_ID}:1`,
          event: 'status_changed',
          order_id: ORDER_ID,
          project_id: PROJECT_ID,
          created: '2026-01-15T12:00:05.433502+00:00',
        },
      ],
      cursor: '7421-318',
    },
  },
  recoverWebhooks: {
    body: RECOVER_REQUEST_EXAMPLE,
    answer: { ...RECOVERY_EXAMPLE, remaining: 2_000, sent: 0, delivered: 0 },
  },
  listWebhookRecoveries: { answer: { items: [RECOVERY_EXAMPLE] } },
  ...RECOVERY_EXAMPLES,
  createOrder: {
    body: {
      currency: 'EUR',
      amount: 2500,
      merchant_order_id: 'A-1001',
      description: 'Two tickets',
      return_url: 'https://shop.example.com/thanks',
    },
    answer: newOrder,
  },
  getOrder: { params: { order_id: ORDER_ID }, answer: paidOrder },
  listOrders: { answer: [newOrder, authorizedOrder] },
  updateOrder: {
    params: { order_id: ORDER_ID },
    body: { merchant_order_id: 'A-1001-b', extra: { cart: 17 } },
    answer: {
      ...newOrder,
      merchant_order_id: 'A-1001-b',
      extra: { cart: 17 },
      modified: '2026-01-15T12:01:12.000000+00:00',
    },
  },
  getTimeline: {
    params: { order_id: ORDER_ID },
    answer: {
      entries: [
        {
          at: '2026-01-15T12:00:05.433000+00:00',
          event: 'order.new',
          text: 'Order of 25.00 EUR created',
          by: 'merchant',
        },
        {
          at: '2026-01-15T12:01:39.880000+00:00',
          event: 'transaction.new',
          text: 'Attempt 1 of 5',
          by: 'customer',
          transaction_id: TRANSACTION_ID,
        },
        {
          at: '2026-01-15T12:01:40.107000+00:00',
          event: 'transaction.accepted',
          text: 'Payment approved with 411111******1111: 00 Approved',
          by: 'processor',
          transaction_id: TRANSACTION_ID,
        },
        { at: '2026-01-15T12:01:40.107000+00:00', event: 'order.completed', text: 'Order completed', by: 'processor' },
        {
          at: '2026-01-15T12:01:40.150000+00:00',
          event: 'webhook.attempt',
          text: 'Webhook attempt 1 of 10: answered 500',
          by: 'service',
          delivery: 1,
        },
      ],
      next: [{ at: '2026-01-15T12:03:40.190000+00:00', event: 'webhook.attempt', text: 'Webhook attempt 2 of 10' }],
    },
  },
  advanceOrderClock: {
    params: { order_id: ORDER_ID },
    body: { advance: 'PT30M' },
    answer: {
      ...anOrder,
      status: 'expired',
      modified: '2026-01-15T12:30:05.440000+00:00',
      test_clock: '2026-01-15T12:31:10.020000+00:00',
    },
  },
  cancelOrder: {
    params: { order_id: ORDER_ID },
    answer: { ...anOrder, status: 'cancelled', modified: '2026-01-15T12:04:11.250908+00:00' },
  },
  refundOrder: {
    params: { order_id: ORDER_ID },
    body: { amount: 1000, description: 'One ticket returned' },
    answer: followUp('refund', { description: 'One ticket returned' }),
  },
  captureTransaction: { params: transactionParams, body: {}, answer: followUp('capture') },
  captureTransactionAmount: {
    params: transactionParams,
    body: { amount: 1000, description: 'First parcel' },
    answer: followUp('capture', { description: 'First parcel' }),
  },
  voidTransaction: { params: transactionParams, body: {}, answer: followUp('void') },
  voidTransactionAmount: {
    params: transactionParams,
    body: { amount: 1000, description: 'Sold out' },
    answer: followUp('void', { description: 'Sold out' }),
  },
  createPaymentLink: {
    body: { merchant_order_id: 'L-1001', amount: 2500, currency: 'EUR', description: 'Two tickets' },
    answer: newLink,
  },
  listPaymentLinks: { answer: [newLink] },
  getPaymentLink: {
    params: { payment_link_id: LINK_ID },
    answer: {
      ...newLink,
      status: 'all_unsuccessful',
      reason: '1 of 25 attempts failed; the link can be tried again until 2026-02-14T12:00:05Z.',
      orders: { error: [ORDER_ID] },
      modified: '2026-01-15T12:01:40.107221+00:00',
    },
  },
  endPaymentLink: {
    params: { payment_link_id: LINK_ID },
    answer: {
      ...linkThatEnded,
      status: 'expired',
      reason: 'Ended by the merchant.',
      modified: '2026-01-16T09:30:00.310000+00:00',
    },
  },
  advancePaymentLinkClock: {
    params: { payment_link_id: LINK_ID },
    body: { to: '2026-02-15T00:00:00Z' },
    answer: {
      ...linkThatEnded,
      status: 'expired',
      reason: 'Expired without a payment.',
      modified: '2026-02-14T12:00:05.440000+00:00',
      test_clock: '2026-02-15T00:00:00.020000+00:00',
    },
  },
  searchOrders: {
    body: { query: 'status:new merchant_order_id:A-10*', size: 20, search_after: -1 },
    answer: { hits: 1, orders: [newOrder] },
  },
  createReceiverCheck: { body: {}, answer: runningCheck },
  getReceiverCheck: {
    params: { check_id: runningCheck.id },
    answer: {
      ...runningCheck,
      status: 'done',
      result: 'failed',
      completed: '2026-01-15T12:00:11.120000+00:00',
      cases: [forgedWebhook],
    },
  },
  listRequests: { answer: { items: [refusedRequest, createdRequest] } },
  getRequest: { params: { request_id: refusedRequest.id }, answer: refusedRequest },
  listOrderRequests: { params: { order_id: ORDER_ID }, answer: { items: [refusedRequest, createdRequest] } },
  getTotals: {
    answer: {
      day: '2026-01-15',
      totals: [
        {
          currency: 'EUR',
          orders: 3,
          accepted_amount: 5_000,
          refunded_amount: 1_000,
          charged_back_amount: 0,
          settled_amount: 3_890,
          fee_amount: 110,
        },
      ],
    },
  },
  getProject: {
    answer: {
      id: PROJECT_ID,
      merchant_id: MERCHANT_ID,
      name: 'Web shop, test',
      status: 'active-testing',
      is_test: true,
      webhook_url: 'https://shop.example.com/webhooks',
      payment_methods: ['credit-card', 'apple-pay', 'google-pay'],
      currencies: ['EUR', 'USD'],
      expiration_period: 'PT30M',
      transaction_expiration_period: 'PT30M',
      capture_expiration_period: 'P5D',
      permissions: { '/payment-methods/credit-card/': { POST: true } },
    },
  },
  listCurrencies: {
    answer: {
      payment_methods: { 'credit-card': { currencies: ['EUR', 'USD'] }, 'apple-pay': { currencies: ['EUR'] } },
    },
  },
};
