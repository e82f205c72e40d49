import type { DeliveryId } from '../domain/delivery';
import {
  DELIVERY_WORKFLOW,
  RELATED_ORDER_ID,
  WEBHOOK_TASK_QUEUE,
  deliveryWorkflowId,
  type DeliveryWorkflow,
} from '../../workflows/messages';
import { unlessClosed, type TemporalAccess } from './call';

/** Workflows of webhooks. */
export class Deliveries {
  constructor(private readonly temporal: TemporalAccess) {}

  /** Starts the delivery's workflow unless it was started before. Operators find it by its order. */
  async start(id: DeliveryId): Promise<void> {
    await unlessClosed(() =>
      this.temporal.client.workflow.start<DeliveryWorkflow>(DELIVERY_WORKFLOW, {
        workflowId: deliveryWorkflowId(id),
        taskQueue: WEBHOOK_TASK_QUEUE,
        args: [id],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        typedSearchAttributes: [{ key: RELATED_ORDER_ID, value: id.order_id }],
        staticSummary: `Webhook ${id.n} of order ${id.order_id}`,
      }),
    );
  }
}
