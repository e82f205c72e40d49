import type { DeliveryId } from '../domain/delivery';
import {
  DELIVERY_WORKFLOW,
  PROJECT_ID,
  RELATED_ORDER_ID,
  WEBHOOK_TASK_QUEUE,
  deliveryWorkflowId,
  type DeliveryWorkflow,
} from '../../workflows/messages';
import type { TemporalAccess } from './call';

/** Workflows of webhooks. */
export class Deliveries {
  constructor(private readonly temporal: TemporalAccess) {}

  /**
   * Starts the delivery's workflow unless it is running; it goes on from the record, whatever became of an earlier one. Operators find
   * it by its order or project. Its tasks, and those of its attempts, are dispatched fairly among projects: when one has hundreds
   * waiting, the task of another does not wait for all of them.
   */
  async start({ order_id, n, project_id }: DeliveryId & { project_id: string }): Promise<void> {
    await this.temporal.client.workflow.start<DeliveryWorkflow>(DELIVERY_WORKFLOW, {
      workflowId: deliveryWorkflowId({ order_id, n }),
      taskQueue: WEBHOOK_TASK_QUEUE,
      args: [{ order_id, n }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      priority: { fairnessKey: project_id },
      typedSearchAttributes: [
        { key: PROJECT_ID, value: project_id },
        { key: RELATED_ORDER_ID, value: order_id },
      ],
      staticSummary: `Webhook ${n} of order ${order_id}`,
    });
  }
}
