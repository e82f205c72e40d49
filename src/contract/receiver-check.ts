import { z } from 'zod';
import { RECEIVER_CASES, RECEIVER_RESULTS } from '../domain/receiver-check';
import type { Route } from './routes';
import { idInput, timestampOutput, uri, idOutput } from './scalars';

export const receiverCheckRequestSchema = z.object({
  webhook_url: uri().optional().describe('The receiver; by default the `webhook_url` of the project.'),
});

/** A case of a receiver check: what was sent, what the receiver did, and what that means in production. */
const receiverCaseSchema = z.strictObject({
  case: z.enum(RECEIVER_CASES),
  result: z
    .enum(RECEIVER_RESULTS)
    .describe(
      '`warning`: it works, until an accident such as a crash at the wrong moment. `not_played`: earlier answers were too slow.',
    ),
  text: z.string().describe('What happened, and what would go wrong in production.'),
  mend: z.string().optional().describe('How to mend it; absent when nothing has to be.'),
  webhooks: z.array(
    z.strictObject({
      order_id: idOutput(),
      webhook_id: z.string().describe('The header `webhook-id`.'),
      expected: z
        .enum(['accepted', 'refused'])
        .describe('`accepted`: a 2xx was right. `refused`: any other answer was.'),
      sent: timestampOutput(),
      duration_ms: z.int(),
      status_code: z.int().optional().describe('Status code of the receiver; absent when it did not answer.'),
      error: z.string().optional().describe('Why there is no status code.'),
    }),
  ),
  reads: z
    .array(
      z.strictObject({
        request_id: idOutput(),
        order_id: idOutput(),
        api_key_id: z.string().describe('The id of the API key.'),
        received: timestampOutput(),
        status: z.int().optional().describe('Status code of the answer; absent when it was not sent as a whole.'),
      }),
    )
    .describe('The requests of the project for these orders, `GET /v1/orders/{order_id}/`, oldest first.'),
});

/** A check of a webhook receiver (rules 27). */
export const receiverCheckSchema = z.strictObject({
  id: idOutput(),
  project_id: idOutput(),
  workflow_id: z.string().describe('The workflow that plays it, as the Web UI of Temporal shows it to operators.'),
  webhook_url: uri(),
  status: z
    .enum(['running', 'done', 'stopped'])
    .describe('`running` for less than 30 seconds as a rule. `stopped`: it could not be played, for the `reason`.'),
  result: z.enum(RECEIVER_RESULTS).optional().describe('The worst of the cases, once it is done.'),
  reason: z.string().optional().describe('Why it was stopped.'),
  created: timestampOutput(),
  completed: timestampOutput().optional(),
  cases: z.array(receiverCaseSchema).describe('Every case, once it is done.'),
});
export type ReceiverCheckAnswer = z.infer<typeof receiverCheckSchema>;

/** Checks of the project's receiver. */
export const RECEIVER_CHECK_ROUTES = {
  createReceiverCheck: {
    method: 'post',
    path: '/v1/projects/self/receiver-check/',
    summary: 'Check the webhook receiver',
    description:
      'Test projects only. Plays twelve cases against the receiver, with about twenty orders that it makes and pays itself: webhooks that come twice, late, out of order, forged, again after a lost answer, slowly, and ten at once. Retrieve the check until it is `done`, which takes less than 30 seconds as a rule: it says for each case what would go wrong in production and how to mend it. One check of a project at a time.',
    body: receiverCheckRequestSchema,
    body_optional: true,
    output: receiverCheckSchema,
    success: 201,
    errors: ['Conflict'],
  },
  getReceiverCheck: {
    method: 'get',
    path: '/v1/projects/self/receiver-checks/{check_id}/',
    summary: 'Get a check of the webhook receiver',
    description: 'The check with its report, for 30 days.',
    params: z.object({ check_id: idInput() }),
    output: receiverCheckSchema,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
