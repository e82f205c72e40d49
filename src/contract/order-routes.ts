import { z } from 'zod';
import {
  FIELDS_ON_REQUEST,
  orderListSchema,
  orderRequestSchema,
  orderSchema,
  orderUpdateSchema,
  partialAmountRequestSchema,
  refundRequestSchema,
  fullAmountRequestSchema,
} from './order';
import type { Route } from './routes';
import { testClockRequestSchema } from './test-clock';
import { timelineQuery, timelineSchema } from './timeline';
import { createdPeriod, idInput, listParam } from './scalars';

const orderParams = z.object({ order_id: idInput() });
const transactionParams = z.object({ order_id: idInput(), transaction_id: idInput() });

/** A capture or void of a part, and one of all that is left. */
const ofPart = {
  method: 'post',
  params: transactionParams,
  body: partialAmountRequestSchema,
  output: orderSchema,
} as const;
const ofWhole = { ...ofPart, body: fullAmountRequestSchema, body_optional: true } as const;

/** Routes of orders, captures, voids and refunds. */
export const ORDER_ROUTES = {
  createOrder: {
    method: 'post',
    path: '/v1/orders/',
    summary: 'Create an order',
    description:
      'Without a transaction the customer is sent to `order_url`, the hosted payment page. With one, to its `payment_url`; a transaction with a `vault_token` is charged at once, and the answer has its status. Retry the payment, with a new Idempotency-Key, only when that is `error`; while it is `new`, `pending` or `processing`, wait, for example with `Prefer: wait=60`. If the issuer asks for 3-D Secure, it is `pending`, and the customer is sent to its `payment_url`. A declined card is not an error: the answer is 200, so read the status of the order.',
    body: orderRequestSchema,
    output: orderSchema,
    waits: true,
    errors: ['MissingInformationToCreateTransaction', 'FailedToFetchTransactionInformation', 'GatewayTimeout'],
  },
  listOrders: {
    method: 'get',
    path: '/v1/orders/',
    summary: 'List orders',
    description:
      'The orders of the project that were created in a period of at most 31 days, newest first, both ends included; without parameters, in the last 31 days and later, as an advanced sandbox clock may date them. It returns at most 10,000 orders: for older ones ask again with `created_until` set to `created` of the last one, which is returned again. It counts as one request more for each 100 orders.',
    query: createdPeriod(),
    output: orderListSchema,
    stream: true,
  },
  getOrder: {
    method: 'get',
    path: '/v1/orders/{order_id}/',
    summary: 'Get an order',
    description:
      'The order with all its transactions. Call it when the customer returns, on each webhook, and from time to time while the status is not final; with `Prefer: wait=60` the answer comes when the status changes.',
    params: orderParams,
    query: z.object({
      'fields[]': listParam(FIELDS_ON_REQUEST).describe(
        '`amount_details` adds what can still be captured, refunded and voided.',
      ),
      fields: listParam(FIELDS_ON_REQUEST).describe('The same as `fields[]`.'),
    }),
    output: orderSchema,
    etag: true,
    waits: true,
    errors: ['NotFound'],
  },
  getTimeline: {
    method: 'get',
    path: '/v1/orders/{order_id}/timeline/',
    summary: 'Get the timeline of an order',
    description:
      'Everything that happened to the order, its transactions, follow-up orders and webhooks, in words and oldest first: when, and who caused it. `next` says what is awaited, and until when. `cursor` is there when there are more entries.',
    params: orderParams,
    query: timelineQuery,
    output: timelineSchema,
    errors: ['NotFound'],
  },
  advanceOrderClock: {
    method: 'post',
    path: '/v1/orders/{order_id}/test-clock/',
    summary: 'Advance the clock of an order',
    description:
      'Test projects only. Advances the clock of a payment order, its follow-up orders and webhooks. Actions that fall due are carried out in order: expiry, captures, webhook attempts. The answer is the order after them, with its current time in `test_clock`; actions that take longer than 10 seconds continue afterwards.',
    params: orderParams,
    body: testClockRequestSchema,
    output: orderSchema,
    etag: true,
    errors: ['NotFound', 'Conflict'],
  },
  updateOrder: {
    method: 'put',
    path: '/v1/orders/{order_id}/',
    summary: 'Change an order',
    description:
      'Changes the fields that are sent, while the order is not final; `customer` and `extra` are replaced as a whole, and null clears a field. Fields that cannot change are ignored, except `amount` and `currency`, which must be those of the order. A changed `webhook_url` receives the webhooks of later status changes.',
    params: orderParams,
    body: orderUpdateSchema,
    output: orderSchema,
    etag: true,
    errors: ['NotFound', 'Conflict', 'MissingInformationToCreateTransaction'],
  },
  cancelOrder: {
    method: 'delete',
    path: '/v1/orders/{order_id}/',
    summary: 'Cancel an order',
    description:
      'Cancels an order that is not final, and returns it. While the outcome of a transaction is not known, the order cannot be cancelled. It is cancelled only if the answer shows the status `cancelled`: with another one nothing is decided yet, so send the request again. Cancelling it again returns the same.',
    params: orderParams,
    output: orderSchema,
    etag: true,
    errors: ['NotFound', 'CanNotCancelTransaction'],
  },
  refundOrder: {
    method: 'post',
    path: '/v1/orders/{order_id}/refunds/',
    summary: 'Create a refund',
    description:
      'Gives captured money back, in full or in part, also long after the payment, and returns the refund order, which is `completed` once the refund is made. Each further refund needs an Idempotency-Key of its own. It can be repeated while the total stays within what was captured. A refund that the processor refuses is returned with 200 and status `error`; its amount is refundable again.',
    params: orderParams,
    body: refundRequestSchema,
    output: orderSchema,
    errors: ['NotFound', 'RefundError'],
  },
  captureTransaction: {
    ...ofWhole,
    path: '/v1/orders/{order_id}/transactions/{transaction_id}/captures/',
    summary: 'Capture a transaction',
    description:
      'Takes all that an authorization with capture_mode `manual` still holds, within its capture window, and returns the capture order, which is `completed` once the amount is captured. A capture that the processor refuses is returned with 200 and status `error`. Without a body.',
    errors: ['NotFound', 'Conflict'],
  },
  captureTransactionAmount: {
    ...ofPart,
    path: '/v1/orders/{order_id}/transactions/{transaction_id}/captures/amount/',
    summary: 'Capture a part of a transaction',
    description:
      'Takes a part of what an authorization with capture_mode `manual` holds, and returns the capture order, which is `completed` once the amount is captured. A capture that the processor refuses is returned with 200 and status `error`. The rest stays capturable: repeat it, each time with a new Idempotency-Key, until nothing is left.',
    errors: ['NotFound', 'Conflict'],
  },
  voidTransaction: {
    ...ofWhole,
    path: '/v1/orders/{order_id}/transactions/{transaction_id}/voids/',
    summary: 'Void a transaction',
    description:
      'Releases all that an authorization still holds, and returns the void order. Without a body. What was captured is refunded instead.',
    errors: ['NotFound', 'CanNotCancelTransaction'],
  },
  voidTransactionAmount: {
    ...ofPart,
    path: '/v1/orders/{order_id}/transactions/{transaction_id}/voids/amount/',
    summary: 'Void a part of a transaction',
    description:
      'Reduces an authorization by an amount, and returns the void order. The rest stays capturable; of a `delayed` one that much less is captured.',
    errors: ['NotFound', 'CanNotCancelTransaction'],
  },
} as const satisfies Record<string, Route>;
