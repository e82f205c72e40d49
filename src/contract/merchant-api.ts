import { ORDER_WEBHOOK_ROUTES, deliveryListSchema, deliverySchema } from './delivery';
import { errorSchema } from './error';
import { EXAMPLES } from './examples';
import {
  customerSchema,
  orderListSchema,
  orderRequestSchema,
  orderSchema,
  orderUpdateSchema,
  webhookSchema,
} from './order';
import { ORDER_ROUTES } from './order-routes';
import { PROJECT_ROUTES, currenciesSchema, projectSchema } from './project';
import {
  PAYMENT_LINK_ROUTES,
  paymentLinkListSchema,
  paymentLinkRequestSchema,
  paymentLinkSchema,
} from './payment-link';
import { RECEIVER_CHECK_ROUTES, receiverCheckRequestSchema, receiverCheckSchema } from './receiver-check';
import { LOGGED_ROUTES, REQUEST_ROUTES, loggedRequestPageSchema, loggedRequestSchema } from './request-log';
import { REPORT_ROUTES, dayTotalsSchema } from './report';
import { SEARCH_ROUTES, searchRequestSchema, searchResultSchema } from './search';
import type { RouteSet } from './routes';
import {
  WEBHOOK_RECOVERY_ROUTES,
  recoverRequestSchema,
  webhookRecoveryPageSchema,
  webhookRecoverySchema,
} from './webhook-recovery';
import { webhookEventPageSchema, WEBHOOK_EVENT_ROUTES } from './webhook-events';
import { testClockRequestSchema } from './test-clock';
import { timelineSchema } from './timeline';
import { eventSchema, transactionRequestSchema, transactionSchema } from './transaction';

/** The API that merchants' systems call with the API key of a project. */
export const MERCHANT_API = {
  name: 'Payments API',
  description:
    'Collect payments for orders. A 2xx answer means that the request was accepted, not that the payment succeeded: read the status of the order. A declined card is not an error: the answer is 200, and the transaction has status `error`.',
  security: {
    name: 'apiKey',
    scheme: 'basic',
    challenge: 'Basic realm="payments", charset="UTF-8"',
    description: 'The API key of the project is the username, the password is empty.',
  },
  routes: { ...LOGGED_ROUTES, ...REQUEST_ROUTES },
  tags: [
    { name: 'Orders', description: 'Orders, and what is done with their money.', routes: ORDER_ROUTES },
    { name: 'Webhooks', description: 'Webhooks of an order, and how they arrived.', routes: ORDER_WEBHOOK_ROUTES },
    {
      name: 'Webhook events',
      description: 'The events of a test project, for receivers that the service cannot reach.',
      routes: WEBHOOK_EVENT_ROUTES,
    },
    {
      name: 'Webhook recoveries',
      description: 'Sending failed webhooks again, for example after an outage of your receiver.',
      routes: WEBHOOK_RECOVERY_ROUTES,
    },
    {
      name: 'Receiver check',
      description: 'What would go wrong with your webhook receiver in production.',
      routes: RECEIVER_CHECK_ROUTES,
    },
    { name: 'Payment links', description: 'Addresses at which a customer pays.', routes: PAYMENT_LINK_ROUTES },
    { name: 'Search', description: 'Finding orders.', routes: SEARCH_ROUTES },
    { name: 'Requests', description: 'What the project sent, and how it was answered.', routes: REQUEST_ROUTES },
    { name: 'Reports', description: 'Sums for reconciliation.', routes: REPORT_ROUTES },
    { name: 'Project', description: 'The project of the API key.', routes: PROJECT_ROUTES },
  ],
  schemas: {
    OrderRequest: orderRequestSchema,
    OrderUpdate: orderUpdateSchema,
    TransactionRequest: transactionRequestSchema,
    Customer: customerSchema,
    Order: orderSchema,
    OrderList: orderListSchema,
    SearchRequest: searchRequestSchema,
    SearchResult: searchResultSchema,
    Transaction: transactionSchema,
    Event: eventSchema,
    Timeline: timelineSchema,
    TestClockRequest: testClockRequestSchema,
    PaymentLinkRequest: paymentLinkRequestSchema,
    PaymentLink: paymentLinkSchema,
    PaymentLinkList: paymentLinkListSchema,
    DayTotals: dayTotalsSchema,
    Project: projectSchema,
    Currencies: currenciesSchema,
    Delivery: deliverySchema,
    DeliveryList: deliveryListSchema,
    WebhookEventPage: webhookEventPageSchema,
    RecoverRequest: recoverRequestSchema,
    WebhookRecovery: webhookRecoverySchema,
    WebhookRecoveryPage: webhookRecoveryPageSchema,
    ReceiverCheckRequest: receiverCheckRequestSchema,
    ReceiverCheck: receiverCheckSchema,
    RequestLogEntry: loggedRequestSchema,
    RequestLogPage: loggedRequestPageSchema,
    Webhook: webhookSchema,
    Error: errorSchema,
  },
  examples: EXAMPLES,
  webhooks: {
    status_changed: {
      post: {
        operationId: 'statusChanged',
        summary: 'The status of an order changed',
        description:
          'Sent to webhook_url of the order, else of the project, signed as Standard Webhooks. Retrieve the order and act on its status. Any 2xx answer counts as received; otherwise it is sent again two minutes later, with ten attempts in all. The same one can arrive twice.',
        parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
          name,
          in: 'header',
          required: true,
          schema: { type: 'string' },
        })),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Webhook' } } },
        },
        responses: { '200': { description: 'Received. The body is ignored.' } },
      },
    },
  },
} as const satisfies RouteSet;

export type MerchantRoutes = (typeof MERCHANT_API)['routes'];
