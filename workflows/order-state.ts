import { workflowInfo } from '@temporalio/workflow';
import { isEnding } from '../src/domain/order';
import { latestAttempt, shouldExpire, type OrderSnapshot } from '../src/domain/order-snapshot';
import { chargeIdempotencyKey, pollAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { localActivities, polling } from './activities';
import type { OrderInput } from './messages';
import { AwaitedOutcome } from './object/awaited-outcome';
import { RecordedObject } from './object/recorded-object';
import { describeOrder, showOrder } from './operator-view';

/** A payment order, and the outcome of its last charge. */
export class OrderState extends RecordedObject<OrderSnapshot> {
  readonly outcome: AwaitedOutcome;

  constructor(
    readonly order_id: string,
    resumed: OrderInput['resumed'],
  ) {
    super({
      name: 'order',
      find: (must_exist) => localActivities.readOrder({ order_id, must_exist }),
      show: (record) => showOrder(record, describeOrder(record, workflowInfo().namespace)),
      must_exist: resumed !== undefined,
    });
    this.outcome = new AwaitedOutcome(
      this,
      {
        poll: (input) => this.pollCharge(input),
        setOutcomeByHand: (input) => localActivities.setChargeOutcome({ ...input, order_id }),
        keyOf: (order) => chargeIdempotencyKey(latestAttempt(order)!.id),
        isVerified: hasManualOutcome,
      },
      resumed,
    );
  }

  /** A notification of the processor is about an order that exists. */
  protected override get mayBeRecorded(): boolean {
    return super.mayBeRecorded || (this.record === undefined && this.outcome.pollRequested);
  }

  /** Expires the order from its expires_at on, even if the timer has not fired yet. Runs in turn. Returns the order. */
  async expireIfDue(): Promise<OrderSnapshot> {
    const order = this.requireRecord();
    const now = this.clock.now();
    if (isFinal(ORDER_MOVES, order.status) || !shouldExpire(order, now)) return order;
    const poll_at = now + pollAfter(this.outcome.polls);
    this.applyRecord(
      await localActivities.endUnpaidOrder({ order, ended: 'expired', source: 'service', now, poll_at }),
    );
    return this.requireRecord();
  }

  private async pollCharge(input: { order: OrderSnapshot; now: number; poll_at: number }): Promise<OrderSnapshot> {
    const { id: transaction_id } = latestAttempt(input.order)!;
    const polled = await polling.pollCharge({ ...input, transaction_id });
    // The record had ended the transaction before, and the processor may have approved it; or an operator had set its
    // outcome, which this workflow did not know, and the processor may contradict it.
    if (isEnding(latestAttempt(polled)?.status) || hasManualOutcome(polled)) this.outcome.pollRequested = true;
    return polled;
  }
}

/**
 * Whether an operator has set the outcome of the last charge. One that ended unpaid is reversed instead (rules 10.11);
 * otherwise it ends only as an authorization that was approved: voided, or released at the end of its window.
 */
function hasManualOutcome(order: OrderSnapshot): boolean {
  const last = latestAttempt(order);
  return last?.outcome_set_by_hand === true && (last.status === 'accepted' || isEnding(last.status));
}
