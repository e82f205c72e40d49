import { eventCursorOf, positionAt, currentPosition, type WebhookEvent } from '../../src/db/webhooks/events';
import { ServiceError } from '../../src/errors';
import { deliveryWorkflowId } from '../../workflows/messages';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { formatTimestamp } from '../present/format';

/**
 * The webhook events of a test project after a cursor, oldest first (rules 13.19). Throws Forbidden for a live project,
 * ValidationError for a cursor of another kind.
 */
export const listWebhookEvents =
  ({ db, event_waits }: Pick<MerchantServices, 'db' | 'event_waits'>): MerchantOperation<'listWebhookEvents'> =>
  async ({ caller: { project }, wait }, { query: { cursor, limit } }) => {
    if (!project.is_test) throw new ServiceError('Forbidden', 'Only events of test projects can be listed.');
    if (cursor === undefined) return { items: [], cursor: eventCursorOf(await currentPosition(db)) };
    const known = { project_id: project.id, ...positionAt(cursor) };
    const { events, position } = await event_waits.read(wait, known, limit);
    return { items: events.map(presentEvent), cursor: eventCursorOf(position) };
  };

/** `webhook_id` is that of the delivery, if there is one. */
const presentEvent = ({ order_id, project_id, n, id, created }: WebhookEvent) => ({
  webhook_id: n === null ? `event:${order_id}:${id}` : deliveryWorkflowId({ order_id, n }),
  event: 'status_changed' as const,
  order_id,
  project_id,
  created: formatTimestamp(created),
});
