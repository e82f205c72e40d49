import { WithStartWorkflowOperation, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Database } from '../src/db/connection';
import { findOrderView, type OrderView } from '../src/db/order-view';
import {
  FOLLOW_UP_WORKFLOW,
  ORDER_WORKFLOW,
  firstAnswer,
  captureOrVoid,
  followUpStart,
  orderRestart,
  orderWorkflowId,
  type FollowUpInput,
  type CaptureOrVoidInput,
} from '../workflows/messages';
import { answeredOrder, isOver } from './answered-order';

/**
 * The API's access to the follow-up orders that merchants request. Captures and voids go through the workflow of the order that holds the money; all others
 * use only their own workflow, as the order's may be long gone. Methods return the follow-up order as stored afterwards, and throw
 * as Orders does.
 */
export class FollowUps {
  constructor(
    private readonly client: Client,
    private readonly db: Database,
  ) {}

  /**
   * Captures or voids: the order's workflow sets the money aside, the follow-up order's does the rest. A repeat gets the first
   * one's result.
   */
  async captureOrVoid(input: CaptureOrVoidInput, deadline_at: number): Promise<OrderView> {
    return await this.answered(input, deadline_at, async () => {
      const start = new WithStartWorkflowOperation(
        ORDER_WORKFLOW,
        orderRestart({ order_id: input.original_order_id, project_id: input.project_id }),
      );
      await this.client.workflow.executeUpdateWithStart(captureOrVoid, {
        startWorkflowOperation: start,
        updateId: `follow:${input.id}`,
        args: [input],
      });
      await this.awaitFirstAnswer(input.id);
    });
  }

  /** Refunds: starts the refund's workflow, or joins a running one. */
  async start(input: FollowUpInput, deadline_at: number): Promise<OrderView> {
    return await this.answered(input, deadline_at, async () => {
      try {
        await this.startOrJoin(input, 'REJECT_DUPLICATE');
      } catch (error) {
        if (!isOver(error)) throw error;
        // The first one was refused or is done: decide again only if it left no order.
        if ((await findOrderView(this.db, input.id)) === undefined) {
          await this.startOrJoin(input, 'ALLOW_DUPLICATE');
        }
      }
    });
  }

  private async startOrJoin(
    input: FollowUpInput,
    workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  ): Promise<void> {
    const start = new WithStartWorkflowOperation(FOLLOW_UP_WORKFLOW, {
      ...followUpStart(input),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy,
    });
    await this.client.workflow.executeUpdateWithStart(firstAnswer, { startWorkflowOperation: start });
  }

  /** A workflow that has ended has had its first answer. */
  private async awaitFirstAnswer(order_id: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(firstAnswer);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  private async answered(
    { id: order_id, not_after }: FollowUpInput,
    deadline_at: number,
    call: () => Promise<void>,
  ): Promise<OrderView> {
    return await answeredOrder(
      { client: this.client, db: this.db, order_id, deadline_at, may_run_late: not_after === undefined },
      call,
    );
  }
}
