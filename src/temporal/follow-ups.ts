import { WithStartWorkflowOperation } from '@temporalio/client';
import type { AnnouncedOperation } from '../db/orders/announced-operations';
import { findFollowUpOfTransaction, findFollowUps } from '../db/orders/follow-ups';
import { findOrderView, type OrderView } from '../db/orders/order-view';
import { endWatch, insertWatch } from '../db/orders/late-approvals';
import { findManualOutcome } from '../db/orders/settle-by-hand';
import { endedUnpaid, type EndedPayment } from '../db/orders/transactions';
import { ORDER_MOVES, isFinal } from '../domain/transitions';
import type { LateApprovalWatch } from '../domain/waits';
import { reversalOrderId, transactionId } from '../ids';
import {
  FOLLOW_UP_WORKFLOW,
  ORDER_STATUS,
  ORDER_WORKFLOW,
  PROJECT_ID,
  RELATED_ORDER_ID,
  TASK_QUEUE,
  captureOrVoid,
  clockMoved,
  firstAnswer,
  orderWorkflowId,
  processorAnswered,
  settleByHand,
  type CaptureOrVoidInput,
  type FollowUpInput,
  type FollowUpWorkflow,
  type OrderWorkflow,
  type SettleByHandInput,
} from '../../workflows/messages';
import {
  callThenReadOrder,
  isWorkflowClosed,
  signalOrStart,
  unlessClosed,
  type OrderRequest,
  type TemporalAccess,
} from './call';
import { Orders, orderRestart } from './orders';

/** Start options of a follow-up order's workflow; operators find it by its payment order. */
export function followUpStart(input: FollowUpInput) {
  return {
    workflowId: orderWorkflowId(input.id),
    taskQueue: TASK_QUEUE,
    args: [input] as [FollowUpInput],
    typedSearchAttributes: [
      { key: ORDER_STATUS, value: 'new' },
      { key: PROJECT_ID, value: input.project_id },
      { key: RELATED_ORDER_ID, value: input.original_order_id },
    ],
    staticSummary: `${input.kind} of ${orderWorkflowId(input.original_order_id)}`,
  };
}

/**
 * Workflows of follow-up orders. Captures and voids go through the workflow of the payment order, which holds the
 * money; all others use only their own, as the payment's may have closed long ago. `captureOrVoid` and `refund` return
 * the follow-up order as stored afterwards and throw as Orders does; their deadline is in epoch milliseconds.
 */
export class FollowUps {
  constructor(
    private readonly temporal: TemporalAccess,
    private readonly orders: Pick<Orders, 'requestPoll'> = new Orders(temporal),
  ) {}

  /**
   * The payment's workflow sets the money aside, the follow-up order's does the rest. A repeat gets the first one's
   * result.
   */
  async captureOrVoid(input: CaptureOrVoidInput, deadline_at: number): Promise<OrderView> {
    return await callThenReadOrder(this.temporal, requestOf(input, deadline_at), async () => {
      const { client } = this.temporal;
      await client.workflow.executeUpdateWithStart(captureOrVoid, {
        startWorkflowOperation: new WithStartWorkflowOperation<OrderWorkflow>(
          ORDER_WORKFLOW,
          orderRestart({ order_id: input.original_order_id, project_id: input.project_id }),
        ),
        updateId: `follow:${input.id}`,
        args: [input],
      });
      // A closed workflow has had its first answer.
      await unlessClosed(() => client.workflow.getHandle(orderWorkflowId(input.id)).executeUpdate(firstAnswer));
    });
  }

  /** Starts the refund's workflow, or joins a running one. */
  async refund(input: FollowUpInput, deadline_at: number): Promise<OrderView> {
    return await callThenReadOrder(this.temporal, requestOf(input, deadline_at), async () => {
      try {
        await this.startOrJoin(input, 'REJECT_DUPLICATE');
      } catch (error) {
        if (!isWorkflowClosed(error)) throw error;
        // The first one was refused or is done: decide again only if it left no order.
        if ((await findOrderView(this.temporal.db, input.id)) === undefined) {
          await this.startOrJoin(input, 'ALLOW_DUPLICATE');
        }
      }
    });
  }

  /**
   * An operator settles the outcome of a follow-up order; if Temporal lost its workflow, that starts again from the
   * record. Throws Conflict when no outcome is awaited.
   */
  async settle(order_id: string, input: SettleByHandInput, deadline_at: number): Promise<void> {
    const handle = this.temporal.client.workflow.getHandle(orderWorkflowId(order_id));
    const settle = async () => {
      // Before that there is nothing to settle.
      await handle.executeUpdate(firstAnswer);
      await handle.executeUpdate(settleByHand, { args: [input] });
    };
    await callThenReadOrder(this.temporal, { order_id, deadline_at, is_recorded: true }, async () => {
      try {
        await settle();
      } catch (error) {
        const order = isWorkflowClosed(error) ? await findOrderView(this.temporal.db, order_id) : undefined;
        if (order === undefined || isFinal(ORDER_MOVES, order.status)) throw error;
        const [lost] = await findFollowUps(this.temporal.db, [order_id]);
        await this.startOrPoll(lost!);
        await settle();
      }
    });
  }

  /** Starts the workflow unless it is running. A reversal that found nothing must not block a later one. */
  async start(input: FollowUpInput): Promise<void> {
    await unlessClosed(() =>
      this.temporal.client.workflow.start<FollowUpWorkflow>(FOLLOW_UP_WORKFLOW, {
        ...followUpStart(input),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
    );
  }

  /**
   * The processor has, or may have, an outcome for a follow-up order: its workflow asks now instead of later. One that
   * is closed or lost starts again, and compares the outcome with what is recorded (rules 10.18).
   */
  async requestPoll(order_id: string): Promise<void> {
    try {
      await this.temporal.client.workflow.getHandle(orderWorkflowId(order_id)).signal(processorAnswered);
    } catch (error) {
      if (!isWorkflowClosed(error)) throw error;
      const { db } = this.temporal;
      const [follow_up] = await findFollowUps(db, [order_id]);
      // What the processor did itself is recorded as it says.
      if (follow_up === undefined || follow_up.requested_by === 'processor') return;
      const now = Date.now() + follow_up.clock_offset_ms;
      // The processor may not answer at this moment: recovery has it asked again.
      await insertWatch(db, transactionId(order_id, 1), { poll_at: now, began: now });
      await this.startOrPoll(follow_up);
    }
  }

  /**
   * The processor has, or may have, an outcome: the workflow asks now instead of later. One that is closed or lost
   * starts again.
   */
  async startOrPoll(input: FollowUpInput): Promise<void> {
    await this.temporal.client.workflow.signalWithStart<FollowUpWorkflow>(
      FOLLOW_UP_WORKFLOW,
      signalOrStart(followUpStart(input), processorAnswered),
    );
  }

  /**
   * Gives a payment back that may have been approved after it had ended; any other is left as it is. The reversal's
   * workflow asks the processor whether it was approved: now, or after `poll_after_ms` (milliseconds) unless it is told
   * to ask before. A stored watch brings a lost workflow back. `now`: epoch milliseconds by the payment's clock;
   * absent: the current time. `with_declined`: also where the processor said no, as there is a sign that it approved all
   * the same (rules 10.18).
   */
  async startReversal({
    transaction_id,
    poll_after_ms,
    now,
    with_declined = false,
  }: {
    transaction_id: string;
    poll_after_ms?: number | undefined;
    now?: number | undefined;
    with_declined?: boolean;
  }): Promise<void> {
    const payment = await endedUnpaid(this.temporal.db, transaction_id, { with_declined });
    if (payment !== undefined) await this.startReversalOf(payment, { poll_after_ms, now });
  }

  private async startReversalOf(
    payment: EndedPayment,
    { poll_after_ms, now }: { poll_after_ms?: number | undefined; now?: number | undefined } = {},
  ): Promise<void> {
    const { original_transaction_id: transaction_id, clock_offset_ms } = payment;
    const time = now ?? Date.now() + clock_offset_ms;
    await insertWatch(this.temporal.db, transaction_id, { poll_at: time + (poll_after_ms ?? 0), began: time });
    const reversal = reversalOf(transaction_id, payment, poll_after_ms);
    await (poll_after_ms === undefined ? this.startOrPoll(reversal) : this.start(reversal));
  }

  /**
   * Asks the processor about a transaction that is watched: of a payment that ended unpaid, by its reversal's workflow;
   * of any other, by its order's. A watch that asks for nothing any more ends.
   */
  async resumeWatch({ transaction_id }: { transaction_id: string }): Promise<void> {
    const { db } = this.temporal;
    const follow_up = await findFollowUpOfTransaction(db, transaction_id);
    if (follow_up !== undefined) return await this.startOrPoll(follow_up);
    const payment = await endedUnpaid(db, transaction_id, { with_declined: true });
    if (payment !== undefined) return await this.startReversalOf(payment);
    const settled = await findManualOutcome(db, transaction_id);
    if (settled === undefined) await endWatch(db, transaction_id);
    else await this.orders.requestPoll(settled.after.order_id);
  }

  /** Records an operation that the processor announced, once the processor knows it (rules 10.9). */
  async resumeAnnounced({ order_id, ...operation }: StartedOperation): Promise<void> {
    await this.startOrPoll({ ...operation, id: order_id, requested_by: 'processor' });
  }

  /** The clock of its payment was moved. A workflow that is closed or lost starts again from the record. */
  async moveClock(input: FollowUpInput, offset_ms: number): Promise<void> {
    await this.temporal.client.workflow.signalWithStart<FollowUpWorkflow>(
      FOLLOW_UP_WORKFLOW,
      signalOrStart(followUpStart({ ...input, clock_offset_ms: offset_ms }), clockMoved),
    );
  }

  /**
   * Like moveClock, for a payment that may have been approved late and is asked about at `poll_at`. Instants by its
   * clock.
   */
  async moveReversalClock(
    watch: LateApprovalWatch,
    { offset_ms, now }: { offset_ms: number; now: number },
  ): Promise<void> {
    const { transaction_id, poll_at } = watch;
    const payment = await endedUnpaid(this.temporal.db, transaction_id, { with_declined: true });
    if (payment === undefined) return;
    await this.moveClock(reversalOf(transaction_id, payment, Math.max(0, poll_at - now)), offset_ms);
  }

  private async startOrJoin(
    input: FollowUpInput,
    workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  ): Promise<void> {
    const startWorkflowOperation = new WithStartWorkflowOperation<FollowUpWorkflow>(FOLLOW_UP_WORKFLOW, {
      ...followUpStart(input),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy,
    });
    await this.temporal.client.workflow.executeUpdateWithStart(firstAnswer, { startWorkflowOperation });
  }
}

/** An operation of the processor that a follow-up order records. */
type StartedOperation = AnnouncedOperation & { project_id: string; clock_offset_ms: number };

/** The reversal of a payment that may have been approved after it had ended. */
function reversalOf(
  transaction_id: string,
  payment: Pick<FollowUpInput, 'project_id' | 'original_order_id' | 'original_transaction_id' | 'clock_offset_ms'>,
  poll_after_ms: number | undefined,
): FollowUpInput {
  const { project_id, original_order_id, original_transaction_id, clock_offset_ms } = payment;
  return {
    project_id,
    original_order_id,
    original_transaction_id,
    clock_offset_ms,
    id: reversalOrderId(transaction_id),
    kind: 'reversal',
    requested_by: 'service',
    poll_after_ms,
  };
}

const requestOf = ({ id, not_after, request_id }: FollowUpInput, deadline_at: number): OrderRequest => ({
  order_id: id,
  request_id,
  deadline_at,
  may_run_late: not_after === undefined,
});
