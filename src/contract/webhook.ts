import { z } from 'zod';
import { uuid } from './scalars';

/** Body of a webhook (rules 13.1): it carries no status, the receiver retrieves the order. */
export const webhookSchema = z.strictObject({
  event: z.literal('status_changed'),
  order_id: uuid().describe('Changed order.'),
  project_id: uuid().describe('Project of the order.'),
});
export type Webhook = z.infer<typeof webhookSchema>;
