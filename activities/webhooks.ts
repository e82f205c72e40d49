import { findDelivery, recordAttempt } from '../src/db/deliveries';
import type { DeliveryId } from '../src/domain/delivery';
import { WEBHOOK_ATTEMPTS_MAX, webhookTimeLimit } from '../src/domain/webhook-schedule';
import type { DeliveryStatus } from '../src/domain/transitions';
import { deliveryWorkflowId } from '../workflows/messages';
import { withFailures } from './failure';
import type { Services } from './services';

/** Starts deliveries and makes their attempts. */
export function webhookActivities({
  db,
  workflows,
  postWebhook,
  webhook_private_addresses,
}: Pick<Services, 'db' | 'workflows' | 'postWebhook' | 'webhook_private_addresses'>) {
  return withFailures({
    /** Starts one workflow per webhook, which outlives the order's. Repeat-safe: no delivery is started twice. */
    async startDeliveries({ order_id, deliveries }: { order_id: string; deliveries: number[] }): Promise<void> {
      await Promise.all(deliveries.map((n) => workflows.deliveries.start({ order_id, n })));
    },

    /** Makes one attempt, counted from 1, records it and returns the delivery's status. `now`: epoch milliseconds by the workflow's clock. */
    async attemptDelivery({
      attempt,
      now,
      ...id
    }: DeliveryId & { attempt: number; now: number }): Promise<DeliveryStatus> {
      const delivery = await findDelivery(db, id);
      if (delivery === undefined) throw new Error(`delivery ${deliveryWorkflowId(id)} is not there`);
      if (delivery.status !== 'new') return delivery.status;
      const time_limit_ms = webhookTimeLimit(attempt);
      const answer = await postWebhook({
        url: delivery.url,
        webhook_id: deliveryWorkflowId(id),
        body: { event: 'status_changed', order_id: delivery.order_id, project_id: delivery.project_id },
        secret: delivery.webhook_secret,
        time_limit_ms,
        private_addresses: delivery.is_test && webhook_private_addresses,
      });
      const to = answer.failure === undefined ? 'delivered' : attempt >= WEBHOOK_ATTEMPTS_MAX ? 'failed' : 'new';
      await recordAttempt(db, id, { attempt, time_limit_ms, started: now, ...answer }, to);
      return to;
    },
  });
}
