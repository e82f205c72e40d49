import { z } from 'zod';
import { WEBHOOK_RECOVERY_STATUSES } from '../domain/transitions';
import { pageQuery, pageSchema } from './lists';
import type { Route } from './routes';
import { idInput, instant, timestampOutput, idOutput } from './scalars';

/** A recovery: the failed webhooks of a project are sent again (rules 13.16). */
export const webhookRecoverySchema = z.strictObject({
  id: idOutput(),
  project_id: idOutput(),
  since: timestampOutput(),
  until: timestampOutput().describe('End of the time; without one in the request, the time of the request.'),
  status: z
    .enum(WEBHOOK_RECOVERY_STATUSES)
    .describe('`completed`: each webhook was sent and had its first attempt. Final: `completed` and `stopped`.'),
  paused_by: z
    .enum(['request', 'failures'])
    .optional()
    .describe('Present while it is paused. `failures`: five webhooks in a row failed.'),
  remaining: z
    .int()
    .optional()
    .describe(
      'Webhooks that are still to be sent: one for each order. More than 10,000 are not counted. Absent when counting them takes long or fails: retrieve the recovery again.',
    ),
  sent: z.int().describe('Webhooks that were sent, each with up to ten attempts.'),
  delivered: z.int().describe('Of these, those that were received.'),
  created: timestampOutput(),
  modified: timestampOutput(),
  completed: timestampOutput().optional(),
});
export type WebhookRecoveryAnswer = z.infer<typeof webhookRecoverySchema>;
export const webhookRecoveryPageSchema = pageSchema(webhookRecoverySchema);

export const recoverRequestSchema = z.object({
  since: instant().describe('Start of the time, for example of the outage of your receiver.'),
  until: instant()
    .optional()
    .describe('End of the time, at most 31 days after its start; now by default and at the latest.'),
});

const list = '/v1/webhooks/recoveries/';
const one = `${list}{recovery_id}/` as const;
const recoveryParams = z.object({ recovery_id: idInput() });
/** A change of a recovery's status. */
const action = {
  method: 'post',
  params: recoveryParams,
  output: webhookRecoverySchema,
  ignores_if_match: true,
  errors: ['NotFound', 'Conflict'],
} as const;

/** Recoveries of the project. */
export const WEBHOOK_RECOVERY_ROUTES = {
  recoverWebhooks: {
    method: 'post',
    path: '/v1/webhooks/recover/',
    summary: 'Send failed webhooks again',
    description:
      'Sends the failed webhooks again that were created in the time, or whose last attempt was in it, and those whose delivery was never begun: one for each order, oldest first, ten a second at most. Each is a redelivery under the `webhook-id` of its event, to the address of its first delivery: if `webhook_url` has changed since, search for the orders by `modified` instead. One recovery of a project is open at a time; another is a Conflict. It is paused when five in a row fail.',
    body: recoverRequestSchema,
    output: webhookRecoverySchema,
    success: 201,
    errors: ['Conflict'],
  },
  listWebhookRecoveries: {
    method: 'get',
    path: list,
    summary: 'List webhook recoveries',
    description: 'The recoveries of the project with their progress, newest first.',
    query: pageQuery({}),
    output: webhookRecoveryPageSchema,
  },
  getWebhookRecovery: {
    method: 'get',
    path: one,
    summary: 'Get a webhook recovery',
    description: 'A recovery with its progress.',
    params: recoveryParams,
    output: webhookRecoverySchema,
    errors: ['NotFound'],
  },
  pauseWebhookRecovery: {
    ...action,
    path: `${one}pause/`,
    summary: 'Pause a webhook recovery',
    description:
      'No further webhook is sent until the recovery is resumed; those that were sent keep their attempts. Conflict unless it is running.',
  },
  resumeWebhookRecovery: {
    ...action,
    path: `${one}resume/`,
    summary: 'Resume a webhook recovery',
    description: 'Continues a paused recovery where it was paused. Conflict unless it is paused.',
  },
  stopWebhookRecovery: {
    ...action,
    path: `${one}stop/`,
    summary: 'Stop a webhook recovery',
    description:
      'Ends a recovery; webhooks that were sent keep their attempts. Conflict once it is completed or stopped.',
  },
} as const satisfies Record<string, Route>;
