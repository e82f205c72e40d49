import type { AnnouncedOperation } from '../db/orders/announced-operations';
import { findFollowUpOfTransaction, findFollowUps } from '../db/orders/follow-ups';
import { endWatch, insertWatch } from '../db/orders/late-approvals';
import type { StoredOrder } from '../db/orders/stored-order';
import { findManualOutcome } from '../db/orders/manual-outcomes';
import { endedUnpaid, type EndedPayment } from '../db/orders/transactions';
import type { ApiRequest } from '../domain/api-request';
import type { LateApprovalWatch } from '../domain/waits';
import { reversalOrderId, transactionId } from '../ids';
import {
  captureOrVoidUpdate,
  firstAnswerUpdate,
  processorAnswered,
  setOutcomeUpdate,
  type CaptureOrVoidInput,
  type FollowUpInput,
  type RequestedFollowUpInput,
  type SetOutcomeInput,
} from '../../workflows/messages';
import { unlessClosed, type TemporalAccess } from './call';
import { KINDS } from './kinds';
import { RecordedWorkflows, startAndUpdate } from './object-workflows';
import type { OrderWorkflows } from './orders';

/** Completes when the order is done, refused, or its outcome unknown. */
const FIRST_ANSWER = { definition: firstAnswerUpdate, args: [] as [] };

/**
 * Workflows of follow-up orders. Captures and voids go through the workflow of the payment order, which holds the
 * money; all others use only their own, as the payment's may have closed long ago.
 */
export class FollowUpWorkflows extends RecordedWorkflows<FollowUpInput, StoredOrder> {
  constructor(
    temporal: TemporalAccess,
    private readonly orders: Pick<OrderWorkflows, 'requestPoll'>,
  ) {
    super(temporal, KINDS.follow_up);
  }

  /**
   * The payment's workflow sets the money aside, the follow-up order's does the rest. A repeat gets the first one's
   * result.
   */
  async captureOrVoid(input: CaptureOrVoidInput): Promise<StoredOrder> {
    const { id, request, original_order_id: order_id, project_id } = input;
    const payment = { kind: KINDS.order, object: { order_id, project_id } };
    return await this.call(id, request, 'create', async () => {
      await startAndUpdate(this.temporal.client, payment, {
        definition: captureOrVoidUpdate,
        updateId: `follow:${id}`,
        args: [input],
      });
      // A closed workflow has had its first answer.
      await unlessClosed(() => this.handle(id).executeUpdate(firstAnswerUpdate));
    });
  }

  /** Starts the refund's workflow, or joins a running one. One that was refused is decided again. */
  async refund(input: RequestedFollowUpInput): Promise<StoredOrder> {
    return await this.createObject(input.id, input.request, { object: input, update: FIRST_ANSWER });
  }

  /**
   * An operator settles the outcome of a follow-up order; if Temporal lost its workflow, that starts again from the
   * record. Throws Conflict when no outcome is awaited.
   */
  async setOutcome(order_id: string, input: SetOutcomeInput, request: ApiRequest): Promise<void> {
    await this.call(order_id, request, 'change', async () => {
      // Before that there is nothing to settle.
      await this.update(order_id, FIRST_ANSWER);
      await this.update(order_id, { definition: setOutcomeUpdate, args: [input] });
    });
  }

  /**
   * The processor has, or may have, an outcome for a follow-up order: its workflow asks now instead of later. One that
   * is closed or lost starts again, and compares the outcome with what is recorded (rules 10.18).
   */
  async requestPoll(order_id: string): Promise<void> {
    if (await this.signalRunning(order_id, processorAnswered)) return;
    const { db } = this.temporal;
    const [follow_up] = await findFollowUps(db, [order_id]);
    // What the processor did itself is recorded as it says.
    if (follow_up === undefined || follow_up.requested_by === 'processor') return;
    const now = Date.now() + follow_up.clock_offset_ms;
    // The processor may not answer at this moment: recovery has it asked again.
    await insertWatch(db, transactionId(order_id, 1), { poll_at: now, began: now });
    await this.startOrPoll(follow_up);
  }

  /**
   * The processor has, or may have, an outcome: the workflow asks now instead of later. One that is closed or lost
   * starts again.
   */
  async startOrPoll(input: FollowUpInput): Promise<void> {
    await this.signalWithStartOptions(input, processorAnswered);
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

  /**
   * Like advanceClock, for a payment that may have been approved late and is asked about at `poll_at`. Instants by its
   * clock.
   */
  async moveReversalClock(
    watch: LateApprovalWatch,
    { offset_ms, now }: { offset_ms: number; now: number },
  ): Promise<void> {
    const { transaction_id, poll_at } = watch;
    const payment = await endedUnpaid(this.temporal.db, transaction_id, { with_declined: true });
    if (payment === undefined) return;
    const reversal = reversalOf(transaction_id, payment, Math.max(0, poll_at - now));
    await this.advanceClock({ ...reversal, clock_offset_ms: offset_ms });
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
