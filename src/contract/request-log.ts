import { z } from 'zod';
import { ORDER_WEBHOOK_ROUTES } from './delivery';
import { ERROR_TYPES } from './error';
import { pageQuery, pageSchema } from './lists';
import { ORDER_ROUTES } from './order-routes';
import { PAYMENT_LINK_ROUTES } from './payment-link';
import { PROJECT_ROUTES } from './project';
import { RECEIVER_CHECK_ROUTES } from './receiver-check';
import { REPORT_ROUTES } from './report';
import type { Route } from './routes';
import { SEARCH_ROUTES } from './search';
import { flagParam, idInput, instantParam, timestampOutput, idOutput } from './scalars';
import { WEBHOOK_EVENT_ROUTES } from './webhook-events';
import { WEBHOOK_RECOVERY_ROUTES } from './webhook-recovery';

/** A request that the project sent, as it was answered (rules 25). Never a body, a value or a header of it. */
export const loggedRequestSchema = z.strictObject({
  id: idOutput().describe('`X-Request-Id` of the answer.'),
  received: timestampOutput(),
  operation: z
    .string()
    .describe('`operationId` of the OpenAPI document.')
    .meta({ examples: ['createOrder'] }),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']),
  path: z
    .string()
    .describe('The path of the operation; the ids that were sent are in the fields of their names.')
    .meta({ examples: ['/v1/orders/{order_id}/refunds/'] }),
  status: z
    .int()
    .optional()
    .describe('Status code of the answer; absent when the connection closed before the whole answer was sent.'),
  duration_ms: z.int().describe('Milliseconds from the arrival of the request to the end of the answer.'),
  error_type: z.string().optional().meta({ enum: ERROR_TYPES }).describe('Type of the error in the answer.'),
  error_fields: z
    .array(z.string())
    .optional()
    .describe(
      'Paths of the wrong fields, for example `transactions.0.payment_method`, up to the first name that the API does not define.',
    ),
  idempotency_key: z.string().optional().describe('The header `Idempotency-Key`.'),
  is_repeat: z.boolean().describe('Whether an earlier request with the same key was the same request.'),
  api_key_id: z.string().describe('The id of the API key, as the back office shows it.'),
  order_id: idOutput().optional().describe('The order in the path, or the order that was created.'),
  transaction_id: idOutput().optional(),
  payment_link_id: idOutput().optional().describe('The payment link in the path, or the one that was created.'),
  n: z.int().optional().describe('The number of the webhook in the path.'),
  object_id: idOutput().optional().describe('The order or payment link in the answer, for example the refund order.'),
});
export type LoggedRequestAnswer = z.infer<typeof loggedRequestSchema>;
export const loggedRequestPageSchema = pageSchema(loggedRequestSchema);

/** The operations whose requests are logged: all but reads of the log. */
export const LOGGED_ROUTES = {
  ...ORDER_ROUTES,
  ...ORDER_WEBHOOK_ROUTES,
  ...WEBHOOK_EVENT_ROUTES,
  ...WEBHOOK_RECOVERY_ROUTES,
  ...RECEIVER_CHECK_ROUTES,
  ...PAYMENT_LINK_ROUTES,
  ...SEARCH_ROUTES,
  ...REPORT_ROUTES,
  ...PROJECT_ROUTES,
} as const satisfies Record<string, Route>;

const STATUS = 'Expected a status code from 200 to 599.';

const filters = {
  since: instantParam().optional().describe('Requests that were received from this instant on.'),
  until: instantParam().optional().describe('Requests that were received up to this instant.'),
  only_errors: flagParam().optional().describe('`true`: only requests that were answered with an error.'),
  operation: z
    .enum(Object.keys(LOGGED_ROUTES) as (keyof typeof LOGGED_ROUTES)[])
    .optional()
    .describe('Only requests of this operation: `operationId` of the OpenAPI document.'),
  status: z
    .custom<string>((text) => typeof text === 'string' && /^[2-5]\d\d$/.test(text), STATUS)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 200, maximum: 599, examples: [400] })
    .describe('Only requests that were answered with this status code.'),
};

/** The request log of the project. */
export const REQUEST_ROUTES = {
  listRequests: {
    method: 'get',
    path: '/v1/requests/',
    summary: 'List requests',
    description:
      'The requests that the project sent in the last 30 days, newest first. A request is listed a few seconds after its answer. Requests that were refused before the API key was known, and reads of this log, are not part of it.',
    query: pageQuery(filters),
    output: loggedRequestPageSchema,
  },
  getRequest: {
    method: 'get',
    path: '/v1/requests/{request_id}/',
    summary: 'Get a request',
    description:
      'What became of a request, by the `X-Request-Id` of its answer: its status, the error with the names of the wrong fields, and the objects it was about.',
    params: z.object({ request_id: idInput() }),
    output: loggedRequestSchema,
    errors: ['NotFound'],
  },
  listOrderRequests: {
    method: 'get',
    path: '/v1/orders/{order_id}/requests/',
    summary: 'List the requests about an order',
    description:
      'The requests of the last 30 days that named the order in their path, or created it, newest first. The request that created a follow-up order is listed for both orders.',
    params: z.object({ order_id: idInput() }),
    query: pageQuery(filters),
    output: loggedRequestPageSchema,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
