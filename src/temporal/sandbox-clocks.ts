import { WithStartWorkflowOperation } from '@temporalio/client';
import type { OrderView } from '../db/orders/order-view';
import { findPaymentLinkView, type PaymentLinkView } from '../db/payment-links';
import type { StartedClock } from '../domain/sandbox-clock';
import {
  PROJECT_ID,
  SANDBOX_CLOCK_TASK_QUEUE,
  SANDBOX_CLOCK_WORKFLOW,
  moveClock,
  sandboxClockWorkflowId,
  type MoveClockInput,
  type SandboxClockWorkflow,
} from '../../workflows/messages';
import { callThenRead, callThenReadOrder, unlessClosed, type TemporalAccess } from './call';

/** Start options of a clock's workflow. One that has ended starts again. */
function clockStart(clock: StartedClock) {
  return {
    workflowId: sandboxClockWorkflowId(clock.clock_id),
    taskQueue: SANDBOX_CLOCK_TASK_QUEUE,
    args: [clock] as [StartedClock],
    priority: { fairnessKey: clock.project_id },
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    typedSearchAttributes: [{ key: PROJECT_ID, value: clock.project_id }],
    staticSummary: `Sandbox clock of ${clock.clock_id}`,
  };
}

/**
 * Workflows of sandbox clocks. Methods with a deadline (epoch milliseconds) return the object as stored afterwards,
 * also when the move goes on; they throw ValidationError when the move goes back or too far.
 */
export class SandboxClocks {
  constructor(private readonly temporal: TemporalAccess) {}

  /** Moves the clock of a payment order and all that comes from it. A repeat is the same move. */
  async moveOrder(
    order: Pick<OrderView, 'id' | 'project_id'>,
    input: MoveClockInput,
    deadline_at: number,
  ): Promise<OrderView> {
    return await callThenReadOrder(this.temporal, { order_id: order.id, deadline_at }, () => this.move(order, input));
  }

  /** Moves the clock of a payment link, its orders and all that comes from them. A repeat is the same move. */
  async movePaymentLink(
    link: Pick<PaymentLinkView, 'id' | 'project_id'>,
    input: MoveClockInput,
    deadline_at: number,
  ): Promise<PaymentLinkView> {
    const read = () => findPaymentLinkView(this.temporal.db, link.id);
    return await callThenRead(this.temporal, { subject: `Payment link ${link.id}`, read, deadline_at }, () =>
      this.move(link, input),
    );
  }

  /** Carries on a move that was lost, and whatever waits by the clock, unless that is being done. */
  async resume(clock: StartedClock): Promise<void> {
    await unlessClosed(() =>
      this.temporal.client.workflow.start<SandboxClockWorkflow>(SANDBOX_CLOCK_WORKFLOW, clockStart(clock)),
    );
  }

  private async move({ id, project_id }: { id: string; project_id: string }, input: MoveClockInput): Promise<void> {
    const startWorkflowOperation = new WithStartWorkflowOperation<SandboxClockWorkflow>(SANDBOX_CLOCK_WORKFLOW, {
      ...clockStart({ clock_id: id, project_id }),
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    await this.temporal.client.workflow.executeUpdateWithStart(moveClock, {
      startWorkflowOperation,
      updateId: input.request_id,
      args: [input],
    });
  }
}
