import { workflowInfo } from '@temporalio/workflow';
import { isEnding, isExpired } from '../src/domain/order';
import {
  isAtIssuer,
  isOutcomeOpen,
  lastTransaction,
  paymentExpiresAt,
  shouldExpire,
  transactionOf,
  type OrderRecord,
} from '../src/domain/order-record';
import { POLL_ISSUER_AFTER_MS, pollAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError } from '../src/errors';
import { local, polling } from './activities';
import { ObjectClock } from './clock';
import type { OrderInput } from './messages';
import { oneAtATime } from '../src/domain/one-at-a-time';
import { describe, show } from './operator-view';
import { LateApproval } from './order-late-approval';
import { refusal } from './refusal';
import { Waits } from './wait';

/** The state of an order's workflow: the order as recorded, and the little that the record does not say. */
export class OrderState {
  readonly clock = new ObjectClock();
  readonly waits = new Waits(this.clock);
  /** Changes of the order run in here, one at a time. */
  readonly inTurn = oneAtATime();
  /** The order as last recorded; undefined until it exists. */
  record: OrderRecord | undefined;
  /** The record may be newer than `record`. */
  recordIsStale = false;
  /** The order does not exist, and will not: its creation was refused, failed, or came too late. */
  refused = false;
  /** A request to create the order has arrived. */
  creationRequested = false;
  /** The processor is to be asked now instead of later. */
  pollRequested: boolean;
  /** How often the processor was asked by schedule. */
  polls: number;
  readonly lateApproval: LateApproval;

  constructor(
    readonly order_id: string,
    private readonly resumed: OrderInput['resumed'],
  ) {
    this.pollRequested = resumed?.poll_requested ?? false;
    this.polls = resumed?.polls ?? 0;
    this.lateApproval = new LateApproval(resumed, this.clock);
  }

  /** The order as recorded. Throws the NotFound that an update answers when there is none. */
  requireRecord(): OrderRecord {
    if (this.record === undefined) throw refusal(new ServiceError('NotFound', 'The order does not exist.'));
    return this.record;
  }

  /** Every change goes through here, so that the operator sees the order as recorded. */
  applyRecord(record: OrderRecord): void {
    this.clock.moveTo(record.clock_offset_ms);
    this.record = { ...record, clock_offset_ms: this.clock.offset_ms };
    this.lateApproval.observe(record);
    show(record, describe(record, workflowInfo().namespace));
  }

  /**
   * Reads the order when this workflow does not know it. Temporal keeps an update in memory until its first task is
   * done: if server and worker die together, the row and the charge are all that remains.
   */
  async findRecord(): Promise<void> {
    if (this.record !== undefined || this.refused) return;
    const found = await local.findOrder({ order_id: this.order_id, must_exist: this.resumed !== undefined });
    if (found === null) {
      this.refused = true;
      return;
    }
    if (this.resumed === undefined) this.lateApproval.mayHaveCharged = true;
    this.applyRecord(found);
  }

  /** Reads the order again, as the record is ahead of this workflow. */
  async refreshRecord(): Promise<void> {
    this.recordIsStale = false;
    await this.inTurn(async () => {
      const found = await local.findOrder({ order_id: this.order_id, must_exist: true });
      if (found !== null) this.applyRecord(found);
    });
  }

  /** An order is expired at its expires_at, even if the timer has not fired yet. Returns the order. */
  async expireIfDue(): Promise<OrderRecord> {
    const order = this.requireRecord();
    const now = this.clock.now();
    if (isFinal(ORDER_MOVES, order.status) || !shouldExpire(order, now)) return order;
    const poll_at = now + pollAfter(this.polls);
    this.applyRecord(await local.endUnpaidOrder({ order, ended: 'expired', source: 'service', now, poll_at }));
    return this.requireRecord();
  }

  /** Asks the processor for the outcome of a charge, if that is still open. */
  async pollCharge(transaction_id: string): Promise<void> {
    const order = this.requireRecord();
    // The order may have ended meanwhile, or another attempt may be under way.
    if (lastTransaction(order)?.id !== transaction_id || !isOutcomeOpen(order)) return;
    this.pollRequested = false;
    const now = this.clock.now();
    const polled = await polling.pollCharge({ order, transaction_id, now, poll_at: now + this.pause() });
    this.applyRecord(polled);
    const transaction = transactionOf(polled, transaction_id);
    // The record had ended the transaction before, and the processor may have approved it.
    if (isEnding(transaction?.status)) this.pollRequested = true;
    if (transaction?.status === 'error' && isExpired(transaction.expires_at, this.clock.now())) {
      await this.lateApproval.watchAbandoned(polled, transaction_id);
    }
  }

  /** Milliseconds until the processor is asked again by schedule. */
  pause(): number {
    const order = this.requireRecord();
    if (!isAtIssuer(order)) return pollAfter(this.polls);
    return Math.min(POLL_ISSUER_AFTER_MS, paymentExpiresAt(order) - this.clock.now());
  }

  /** The processor may contradict a payment that an operator approved by hand. */
  get shouldVerifyManualOutcome(): boolean {
    const last = this.record && lastTransaction(this.record);
    return this.pollRequested && last?.status === 'accepted' && last.settled_by_hand === true;
  }

  /** The merchant has moved the clock. */
  async readClock(): Promise<void> {
    if (this.record === undefined) {
      this.recordIsStale = true;
      return;
    }
    const { order_id } = this;
    await this.clock.refresh(async () => (await local.findOrder({ order_id }))?.clock_offset_ms);
    this.applyRecord(this.record);
  }

  /**
   * Leaves the processor alone for a while, in real time, unless the record changes, a poll is requested or
   * `isOutOfTime`. Without that it is a poll by schedule, and counts: a requested one does not slow down the schedule.
   */
  async pauseUnlessChanged(milliseconds: number, summary: string, isOutOfTime = () => false): Promise<void> {
    const version = this.record?.version;
    const isMet = () => this.pollRequested || this.hasChangedSince(version) || isOutOfTime();
    if (!(await this.waits.pause({ milliseconds, summary }, isMet))) this.polls += 1;
  }

  /** Whether the main loop has to look at the order again. */
  hasChangedSince(version: number | undefined): boolean {
    return this.recordIsStale || this.record?.version !== version || workflowInfo().continueAsNewSuggested;
  }

  /** The input of a new run, with what the record does not say. */
  toResume(): OrderInput {
    return {
      order_id: this.order_id,
      resumed: { polls: this.polls, poll_requested: this.pollRequested, ...this.lateApproval.toResume() },
    };
  }
}
