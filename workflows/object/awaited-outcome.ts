import { setHandler } from '@temporalio/workflow';
import {
  isSettableByHand,
  latestAttempt,
  outcomeAwaitedFrom,
  pollPause,
  transactionOf,
  untilPoll,
  type OrderSnapshot,
} from '../../src/domain/order-snapshot';
import { pollAfter } from '../../src/domain/transaction';
import { localActivities } from '../activities';
import { setUpdateHandler } from '../inputs';
import { pollNowUpdate, processorAnswered, setOutcomeUpdate, type SetOutcomeInput } from '../messages';
import { SET_OUTCOME, inWords } from '../operator-view';
import { notAwaited } from '../refusal';
import type { RecordedObject } from './recorded-object';

/** The operation whose outcome is awaited: a charge, or the operation of a follow-up order. */
export interface ProcessorOperation {
  /** Polls the processor and records the resulting move. */
  poll: (input: { order: OrderSnapshot; now: number; poll_at: number }) => Promise<OrderSnapshot>;
  /** Records the outcome that an operator has set. */
  setOutcomeByHand: (input: { manual_outcome: SetOutcomeInput; now: number }) => Promise<OrderSnapshot>;
  /** The key under which the processor knows the operation. */
  keyOf: (order: OrderSnapshot) => string;
  /** Whether the recorded outcome is compared with the processor's when there is a sign of a contradiction. */
  isVerified: (order: OrderSnapshot) => boolean;
}

/** The polls of the run before are about the outcome that is awaited when a new run begins. */
const OF_PREVIOUS_RUN = 'previous run';

/**
 * The outcome of an order's last operation at the processor: polled by schedule or on request, set by hand, and
 * verified once it is known (rules 10.2, 10.14, 10.15, 10.18).
 */
export class AwaitedOutcome {
  /** A poll is requested before the scheduled one. */
  pollRequested: boolean;
  /** Scheduled polls so far, and the outcome that they were about; none while nothing is recorded. */
  private counted: { of: string | undefined; polls: number };

  constructor(
    private readonly object: RecordedObject<OrderSnapshot>,
    private readonly operation: ProcessorOperation,
    { polls = 0, poll_requested = false }: { polls?: number | undefined; poll_requested?: boolean | undefined } = {},
  ) {
    this.counted = { of: polls > 0 ? OF_PREVIOUS_RUN : undefined, polls };
    this.pollRequested = poll_requested;
  }

  /**
   * The number of scheduled polls so far. It begins anew with a further attempt, and once the customer is back from the
   * issuer: each is polled as often as the first was. None while no outcome is awaited.
   */
  get polls(): number {
    const { record } = this.object;
    if (record !== undefined && outcomeAwaitedFrom(record) === undefined) return 0;
    const { of, polls } = this.counted;
    return of === this.awaited || of === OF_PREVIOUS_RUN ? polls : 0;
  }

  /** The last transaction, and who owes its outcome. */
  private get awaited(): string | undefined {
    const { record } = this.object;
    return record && `${latestAttempt(record)?.id} ${outcomeAwaitedFrom(record)}`;
  }

  /** Sets the handlers of pollNow, setOutcome and processorAnswered. */
  setHandlers(): void {
    const { object } = this;
    setHandler(pollNowUpdate, () => object.update(() => this.pollNow()), {
      description: 'Polls the processor now. Returns what the order waits for afterwards. Always safe.',
    });
    setUpdateHandler(setOutcomeUpdate, (manual_outcome) => object.update(() => this.setOutcomeByHand(manual_outcome)), {
      description: SET_OUTCOME,
    });
    setHandler(
      processorAnswered,
      () => {
        this.pollRequested = true;
      },
      { description: 'The processor may have an outcome: poll it now.' },
    );
  }

  /** Polls the outcome if it is still open. */
  async poll(): Promise<void> {
    await this.object.inTurn(() => this.pollIfOpen());
  }

  /**
   * Waits in real time until the next scheduled poll; ends early when a poll is requested or the order changes. Only
   * scheduled polls are counted, so a requested one does not slow down the schedule.
   */
  async pause(summary: string, milliseconds?: number): Promise<void> {
    const { object } = this;
    const version = object.record?.version;
    if (this.counted.of === OF_PREVIOUS_RUN) this.counted.of = this.awaited;
    // What is due by the object's clock does not wait for the real time of a poll. An advance under way is no new
    // version.
    const { offset_ms } = object.clock;
    const isMet = () => this.pollRequested || object.hasChangedSince(version) || object.clock.offset_ms !== offset_ms;
    const wait = { milliseconds: milliseconds ?? this.pauseBy(untilPoll), summary };
    if (!(await object.waits.pause(wait, isMet))) {
      this.counted = { of: this.awaited, polls: this.polls + 1 };
    }
    if (object.recordIsStale) await object.refreshRecord();
  }

  /** Whether there is a sign that the processor contradicts the recorded outcome. */
  get shouldVerify(): boolean {
    const { record } = this.object;
    return this.pollRequested && record !== undefined && this.operation.isVerified(record);
  }

  /** Compares the recorded outcome with the processor's; a contradiction is shown to the operator (rules 10.18). */
  async verify(): Promise<void> {
    this.pollRequested = false;
    await this.object.change(async () => {
      const order = this.object.requireRecord();
      const key = this.operation.keyOf(order);
      return await localActivities.verifyManualOutcome({ order_id: order.id, key, now: this.object.clock.now() });
    });
  }

  private async pollNow(): Promise<string> {
    await this.object.readRecord();
    if (this.object.record === undefined && !this.object.refused) {
      this.pollRequested = true;
      return 'Nothing is recorded yet: the processor is polled now.';
    }
    await this.pollIfOpen();
    return inWords(this.object.requireRecord());
  }

  private async pollIfOpen(): Promise<void> {
    const order = this.object.record;
    if (order === undefined || outcomeAwaitedFrom(order) === undefined) return;
    this.pollRequested = false;
    const now = this.object.clock.now();
    this.object.applyRecord(await this.operation.poll({ order, now, poll_at: now + this.pauseBy(pollPause) }));
  }

  private async setOutcomeByHand(manual_outcome: SetOutcomeInput): Promise<string> {
    const { transaction_id } = manual_outcome;
    const before = await this.pollNow();
    const order = this.object.record;
    const now = this.object.clock.now();
    if (order === undefined || !isSettableByHand(order, now)) throw notAwaited(before);
    // The operator may mean an earlier attempt, whose outcome is known.
    if (latestAttempt(order)?.id !== transaction_id) throw notAwaited(before);
    this.object.applyRecord(await this.operation.setOutcomeByHand({ manual_outcome, now }));
    const after = this.object.requireRecord();
    if (transactionOf(after, transaction_id)?.outcome_set_by_hand !== true) throw notAwaited(inWords(after));
    return inWords(after);
  }

  private pauseBy(pause: typeof pollPause): number {
    const { record, clock } = this.object;
    return record === undefined ? pollAfter(this.polls) : pause(record, this.polls, clock.now());
  }
}
