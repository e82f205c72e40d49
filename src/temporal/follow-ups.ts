import type { AnnouncedOperation } from '../db/orders/announced-operations';
import { findFollowUpOfTransaction, findFollowUps } from '../db/orders/follow-ups';
import { endWatch, insertWatch } from '../db/orders/late-approvals';
import type { StoredOrder } from '../db/orders/stored-order';
import { findManualOutcome } from '../db/orders/manual-outcomes';
import { endedUnpaid, type EndedPayment } from '../db/orders/transactions';
import type { AcceptedRequest } from '../domain/accepted-request';
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
import { RecordLost } from './call-errors';
import { currentTimeOf } from '../time';
import { KINDS } from './kinds';
import { RecordedWorkflows, newUpdateId, startAndUpdate } from './object-workflows';
import type { OrderWorkflows } from './orders';

/** Completes when the order is done, refused, or its outcome unknown. */
const FIRST_ANSWER = { definition: firstAnswerUpdate, args: [] as [] };

/**
 * Workflows of follow-up orders. Captures and voids go through the workflow of the payment order, which holds the
 * reserved money; all others use only their own, as the payment's workflow may be closed.
 */
export class FollowUpWorkflows extends RecordedWorkflows<FollowUpInput, StoredOrder> {
  protected override readonly on_restart = processorAnswered;

  constructor(
    temporal: TemporalAccess,
    private readonly orders: Pick<OrderWorkflows, 'requestPoll'>,
  ) {
    super(temporal, KINDS.follow_up);
  }

  /**
   * The payment's workflow sets the amount aside, the follow-up order's workflow executes the operation. A repeat gets
   * the first result.
   */
  async captureOrVoid(input: CaptureOrVoidInput): Promise<StoredOrder> {
    const { id, request, original_order_id: order_id, project_id } = input;
    const payment = { kind: KINDS.order, object: { order_id, project_id } };
    const send = (updateId: string) =>
      this.call(id, request, 'create', async () => {
        await startAndUpdate(this.temporal.client, payment, {
          definition: captureOrVoidUpdate,
          updateId,
          args: [input],
        });
        // A closed workflow has already given its first answer.
        await unlessClosed(() => this.handle(id).executeUpdate(firstAnswerUpdate));
      });
    const updateId = `follow:${id}`;
    try {
      return await send(updateId);
    } catch (error) {
      if (!(error instanceof RecordLost)) throw error;
      // It is set aside, and sent to the processor, again.
      return await send(newUpdateId(updateId, request));
    }
  }

  /**
   * Starts the refund's workflow, or joins a running one. A refused refund is not decided again for its
   * Idempotency-Key, while Temporal keeps its first answer.
   */
  async refund(input: RequestedFollowUpInput): Promise<StoredOrder> {
    const { id, request } = input;
    const update = request.has_idempotency_key ? { ...FIRST_ANSWER, updateId: `first:${id}` } : FIRST_ANSWER;
    return await this.createObject(id, request, { object: input, update });
  }

  /**
   * An operator sets the outcome of a follow-up order. If Temporal lost its workflow, it restarts from the record.
   * Throws Conflict when no outcome is awaited.
   */
  async setOutcome(order_id: string, input: SetOutcomeInput, request: AcceptedRequest): Promise<void> {
    await this.call(order_id, request, 'change', async () => {
      // Before its first answer an order has no open outcome.
      await this.update(order_id, FIRST_ANSWER);
      await this.update(order_id, { definition: setOutcomeUpdate, args: [input] });
    });
  }

  /**
   * Polls the processor now about a follow-up order for which it has, or may have, an outcome. A closed or lost
   * workflow restarts and compares the outcome with the recorded one (rules 10.18).
   */
  async requestPoll(order_id: string): Promise<void> {
    if (await this.signalRunning(order_id, processorAnswered)) return;
    const { db } = this.temporal;
    const [follow_up] = await findFollowUps(db, [order_id]);
    // Operations that the processor initiated are recorded as it reports them.
    if (follow_up === undefined || follow_up.requested_by === 'processor') return;
    const now = currentTimeOf(follow_up);
    // If the processor does not answer now, recovery requests another poll.
    await insertWatch(db, transactionId(order_id, 1), { poll_at: now, began: now, is_sign: true });
    await this.startOrPoll(follow_up);
  }

  /** Polls the processor now. A closed or lost workflow restarts. */
  async startOrPoll(input: FollowUpInput): Promise<void> {
    await this.signalOrStart(input, processorAnswered);
  }

  /**
   * Starts the reversal of a payment that may have been approved after it had ended; does nothing for any other. The
   * reversal's workflow polls the processor now, or after `poll_after_ms` (milliseconds) unless a poll is requested
   * earlier. Recovery restarts a lost workflow by the stored watch. `now`: epoch milliseconds by the payment's clock;
   * absent: the current time. `with_declined`: also for a declined payment, as there is a new sign that it was approved
   * nevertheless (rules 10.18).
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
    if (payment !== undefined) await this.startReversalOf(payment, { poll_after_ms, now, is_sign: with_declined });
  }

  private async startReversalOf(
    payment: EndedPayment,
    {
      poll_after_ms,
      now,
      is_sign = false,
    }: { poll_after_ms?: number | undefined; now?: number | undefined; is_sign?: boolean } = {},
  ): Promise<void> {
    const { original_transaction_id: transaction_id } = payment;
    const time = now ?? currentTimeOf(payment);
    await insertWatch(this.temporal.db, transaction_id, { poll_at: time + (poll_after_ms ?? 0), began: time, is_sign });
    const reversal = reversalOf(transaction_id, payment, poll_after_ms);
    await (poll_after_ms === undefined ? this.startOrPoll(reversal) : this.start(reversal));
  }

  /**
   * Polls the processor about a watched transaction: the reversal's workflow does it for a payment that ended unpaid,
   * the order's workflow for any other. Deletes a watch that is no longer needed.
   */
  async resumeWatch({ transaction_id }: { transaction_id: string }): Promise<void> {
    const { db } = this.temporal;
    const follow_up = await findFollowUpOfTransaction(db, transaction_id);
    if (follow_up !== undefined) return await this.startOrPoll(follow_up);
    const payment = await endedUnpaid(db, transaction_id, { with_declined: true });
    if (payment !== undefined) return await this.startReversalOf(payment);
    const set_by_hand = await findManualOutcome(db, transaction_id);
    if (set_by_hand === undefined) await endWatch(db, transaction_id);
    else await this.orders.requestPoll(set_by_hand.after.order_id);
  }

  /** Starts the workflow that records an announced operation once the processor's look-up finds it (rules 10.9). */
  async resumeAnnounced({ order_id, ...operation }: StartedOperation): Promise<void> {
    await this.startOrPoll({ ...operation, id: order_id, requested_by: 'processor' });
  }

  /**
   * Like advanceClock, for a payment that may have been approved late and is polled at `poll_at`. Instants by its
   * clock.
   */
  async advanceReversalClock(
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
