import { z } from 'zod';
import type { Route } from './routes';
import { limitParam, timestampOutput, idOutput } from './scalars';

/** A page of the webhook events of a test project (rules 13.19). */
export const webhookEventPageSchema = z.strictObject({
  items: z
    .array(
      z.strictObject({
        webhook_id: z.string().describe('The header `webhook-id`: the same at the `webhook_url`, if there is one.'),
        event: z.literal('status_changed'),
        order_id: idOutput(),
        project_id: idOutput(),
        created: timestampOutput(),
      }),
    )
    .describe('Oldest first.'),
  cursor: z.string().describe('The place after these events, for the next request. Keep it over a restart.'),
});
export type WebhookEventPage = z.infer<typeof webhookEventPageSchema>;

/** The webhook events of the project, for the command `payments listen`. */
export const WEBHOOK_EVENT_ROUTES = {
  listWebhookEvents: {
    method: 'get',
    path: '/v1/webhooks/events/',
    summary: 'List webhook events',
    description:
      'Test projects only. The events that webhooks are sent for, also without a `webhook_url`: for receivers that the service cannot reach. Without `cursor` the answer has no events, only the cursor of now. With `cursor` it has the events after it; with `Prefer: wait=60` it comes when there is one. Events are kept for seven days. `payments listen` calls this operation and sends each event, signed, to a local address.',
    query: z.strictObject({
      limit: limitParam({ default: 50, most: 100 }).describe('Events in the answer.'),
      cursor: z.string().max(64).optional().describe('`cursor` of an earlier answer; absent: now.'),
    }),
    output: webhookEventPageSchema,
    waits: true,
  },
} as const satisfies Record<string, Route>;
