import type { Client } from '@temporalio/client';
import type { DeliveryId } from '../domain/delivery';
import {
  DELIVERY_WORKFLOW,
  PROJECT_ID,
  RELATED_ORDER_ID,
  WEBHOOK_TASK_QUEUE,
  clockMoved,
  deliveryWorkflowId,
  recordChanged,
  type DeliveryInput,
  type DeliveryWorkflow,
} from '../../workflows/messages';
import { callOnce, signalOrStart, type TemporalAccess } from './call';

/**
 * Workflows of webhooks. A method that has a deadline (epoch milliseconds) throws ServiceUnavailable when it is not
 * carried out by then.
 */
export class Deliveries {
  constructor(private readonly temporal: TemporalAccess) {}

  /**
   * Starts the delivery's workflow unless it is running; it continues from the record, however an earlier run ended.
   * Operators find it by its order or project. Its tasks, and those of its attempts, are dispatched fairly among
   * projects: when one has hundreds waiting, the task of another does not wait for all of them.
   */
  async start(delivery: StartedDelivery, deadline_at?: number): Promise<void> {
    await this.call(deadline_at, async ({ workflow }) => {
      await workflow.start<DeliveryWorkflow>(DELIVERY_WORKFLOW, {
        ...deliveryStart(delivery),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
    });
  }

  /** The delivery's workflow reads the record and goes on from there; one that is closed or lost starts again. */
  async recordChanged(delivery: StartedDelivery, deadline_at?: number): Promise<void> {
    await this.call(deadline_at, async ({ workflow }) => {
      await workflow.signalWithStart<DeliveryWorkflow>(
        DELIVERY_WORKFLOW,
        signalOrStart(deliveryStart(delivery), recordChanged),
      );
    });
  }

  /** The clock of its order was moved. A workflow that is closed or lost starts again from the record. */
  async moveClock(delivery: StartedDelivery): Promise<void> {
    await this.temporal.client.workflow.signalWithStart<DeliveryWorkflow>(
      DELIVERY_WORKFLOW,
      signalOrStart(deliveryStart(delivery), clockMoved),
    );
  }

  private async call(deadline_at: number | undefined, work: (client: Client) => Promise<void>): Promise<void> {
    const { client } = this.temporal;
    if (deadline_at === undefined) await work(client);
    else await callOnce(client, deadline_at, () => work(client));
  }
}

/** A delivery whose workflow is started. */
type StartedDelivery = DeliveryId & { project_id: string };

function deliveryStart({ order_id, n, project_id }: StartedDelivery) {
  return {
    workflowId: deliveryWorkflowId({ order_id, n }),
    taskQueue: WEBHOOK_TASK_QUEUE,
    args: [{ order_id, n }] as [DeliveryInput],
    priority: { fairnessKey: project_id },
    typedSearchAttributes: [
      { key: PROJECT_ID, value: project_id },
      { key: RELATED_ORDER_ID, value: order_id },
    ],
    staticSummary: `Webhook ${n} of order ${order_id}`,
  };
}
