import { z } from 'zod';
import { DELIVERY_STATUSES } from '../domain/transitions';
import type { Route } from './routes';
import { idInput, limitParam, timestampOutput, uri, idOutput } from './scalars';

/** A delivery of a webhook, with every attempt (rules 13.12). */
export const deliverySchema = z.strictObject({
  id: z.string().describe('The order and the number of the delivery: `{order_id}-{n}`.'),
  order_id: idOutput(),
  project_id: idOutput(),
  event: z.literal('status_changed'),
  url: uri(),
  status: z.enum(DELIVERY_STATUSES).describe('`new` or `paused` until a receiver answered 2xx or ten attempts failed.'),
  created: timestampOutput(),
  next_attempt_at: timestampOutput()
    .optional()
    .describe('Time of the next attempt; absent while it is paused and once it is final.'),
  redelivery_of: z.string().optional().describe('The first delivery of the same event; absent on that one.'),
  attempts: z.array(
    z.strictObject({
      n: z.int(),
      started: timestampOutput(),
      duration_ms: z.int(),
      status_code: z.int().optional().describe('Status code of the receiver; absent when it did not answer.'),
      error: z.string().optional().describe('Why it does not count as received.'),
    }),
  ),
});
export type DeliveryAnswer = z.infer<typeof deliverySchema>;
export const deliveryListSchema = z.array(deliverySchema);

export const REDELIVER_DESCRIPTION =
  'Sends the same event to the same address once more, also if `webhook_url` has changed since, as a delivery of its own with ten attempts. The header `webhook-id` is that of the first delivery, as it is the same event. While a redelivery of the same event is new or paused, it is a Conflict.';

/** Deliveries of an order in one answer. */
const DELIVERIES_LIMIT = { default: 100, most: 100 };

/** The number of a delivery in a path or query. */
const deliveryNumber = () => z.string().regex(/^[1-9]\d{0,8}$/, 'Expected the number of a delivery.');

/** The webhooks of an order, for the merchant. */
export const ORDER_WEBHOOK_ROUTES = {
  listOrderWebhooks: {
    method: 'get',
    path: '/v1/orders/{order_id}/webhooks/',
    summary: 'List the webhooks of an order',
    description:
      'The deliveries of webhooks about the order, newest first, with their attempts. Of an order with more than `limit` ask again with `before` set to the number of the last one.',
    params: z.object({ order_id: idInput() }),
    query: z.strictObject({
      limit: limitParam(DELIVERIES_LIMIT).describe('Deliveries in the answer.'),
      before: deliveryNumber()
        .transform(Number)
        .optional()
        .meta({ type: 'integer', minimum: 1, maximum: 999_999_999 })
        .describe('Number of a delivery: the answer has older ones.'),
    }),
    output: deliveryListSchema,
    errors: ['NotFound'],
  },
  redeliverOrderWebhook: {
    method: 'post',
    path: '/v1/orders/{order_id}/webhooks/{n}/redeliver/',
    summary: 'Send a webhook again',
    description: REDELIVER_DESCRIPTION,
    params: z.object({ order_id: idInput(), n: deliveryNumber() }),
    output: deliverySchema,
    ignores_if_match: true,
    success: 201,
    errors: ['NotFound', 'Conflict'],
  },
} as const satisfies Record<string, Route>;

/** The id of a delivery in a path: the id of its order, a hyphen and its number. */
export const deliveryParams = z.object({
  id: z
    .string()
    .toLowerCase()
    .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[1-9]\d{0,8}$/, 'Expected the id of a delivery.'),
});
