import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { followUpIdempotencyKey } from '../src/domain/follow-up';
import { latestAttempt, type OrderSnapshot } from '../src/domain/order-snapshot';
import { POLL_LATE_CHALLENGE_MS } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { localActivities, polling } from './activities';
import { firstAnswerUpdate, type FollowUpInput } from './messages';
import { AwaitedOutcome } from './object/awaited-outcome';
import { temporalClock } from './object/clock';
import { RecordedObject } from './object/recorded-object';
import { startDueDeliveries } from './order-deliveries';
import { describeFollowUp, showOrder, showAttention } from './operator-view';

/**
 * The life of one follow-up order: a capture, void, refund, chargeback or reversal. It is written and executed at once;
 * until the processor gives an outcome, it is polled by the operation's key. Returns the order's final status, or
 * `refused`.
 */
export async function followUp(input: FollowUpInput): Promise<string> {
  const state = new FollowUpState(input);
  const { outcome } = state;
  setFollowUpHandlers(state);
  if (input.poll_after_ms !== undefined) await untilLastPoll(state);
  await executeOrRefuse(state);
  while (state.record !== undefined) {
    await continueInNewRunWhenLong(state);
    if (state.recordIsStale) await state.refreshRecord();
    const { deliveries, status } = state.requireRecord();
    if (deliveries.length > 0) await startDueDeliveries(state);
    else if (!isFinal(ORDER_MOVES, status)) await pollOutcome(state);
    else if (outcome.shouldVerify) await outcome.verify();
    else break;
  }
  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

/** A follow-up order, and the outcome of its operation. */
class FollowUpState extends RecordedObject<OrderSnapshot> {
  readonly outcome: AwaitedOutcome;
  /** Why the order was refused. A refused order has no record. */
  refusal: ApplicationFailure | undefined;
  /** The order is done, refused, or its outcome unknown: `firstAnswerUpdate` is due. */
  firstAnswerKnown = false;
  /**
   * When the processor is polled for the last time about a possible late approval; before that it is polled on request
   * only. Epoch milliseconds.
   */
  readonly last_poll_at: number;

  constructor(readonly input: FollowUpInput) {
    super({
      name: 'follow-up order',
      find: (must_exist) => localActivities.readOrder({ order_id: input.id, must_exist }),
      show: (record) => showOrder(record, describeFollowUp(input, record, workflowInfo().namespace)),
    });
    const { id, kind, original_transaction_id, requested_by } = input;
    this.outcome = new AwaitedOutcome(
      this,
      {
        poll: async (poll) => {
          const polled = await polling.pollFollowUp({ ...input, ...poll });
          // Set while this workflow did not know of it: the processor may contradict it.
          if (latestAttempt(polled)?.outcome_set_by_hand === true) this.outcome.pollRequested = true;
          return polled;
        },
        setOutcomeByHand: (manual_outcome) => localActivities.setFollowUpOutcome({ ...input, ...manual_outcome }),
        keyOf: () => followUpIdempotencyKey(original_transaction_id, kind, id),
        // Operations that the processor initiated are recorded as it reports them.
        isVerified: ({ status }) => isFinal(ORDER_MOVES, status) && requested_by !== 'processor',
      },
      input,
    );
    if ((input.clock_offset_ms ?? 0) > 0) this.requestReading();
    this.last_poll_at = temporalClock.now() + (input.clock_offset_ms ?? 0) + (input.poll_after_ms ?? 0);
  }

  /** Until the order is recorded, reads the clock offset from its payment. */
  override async readRecord(): Promise<void> {
    if (this.record !== undefined) return await super.readRecord();
    if (!this.recordIsStale) return;
    const read = () => localActivities.readOrder({ order_id: this.input.original_order_id });
    const payment = await this.reading(read, { serves: 'all' });
    if (payment != null) this.clock.setTo(payment.clock_offset_ms);
  }
}

function setFollowUpHandlers(state: FollowUpState): void {
  state.setSignalHandlers();
  state.outcome.setHandlers();
  setHandler(
    firstAnswerUpdate,
    async () => {
      await condition(() => state.firstAnswerKnown);
      if (state.refusal !== undefined) throw state.refusal;
    },
    { description: 'Completes when the order is done, refused, or its outcome unknown.' },
  );
}

/**
 * Executes the order. A refusal is its first answer; any other failure is a bug, which Temporal shows and retries until
 * it is fixed.
 */
async function executeOrRefuse(state: FollowUpState): Promise<void> {
  try {
    await execute(state);
  } catch (failure) {
    const cause = failure instanceof ActivityFailure ? failure.cause : failure;
    if (!(cause instanceof ApplicationFailure)) throw failure;
    state.refusal = cause;
  }
  state.firstAnswerKnown = true;
}

/** Returns once the order is recorded, or there is nothing to record. */
async function execute(state: FollowUpState): Promise<void> {
  const { outcome } = state;
  for (;;) {
    if (state.recordIsStale) await state.refreshRecord();
    outcome.pollRequested = false;
    const execution = await localActivities.executeFollowUp({ ...state.input, now: state.clock.now() });
    if (execution.result === 'recorded') {
      // If the order was recorded earlier, the requested poll is still to be made. One that was requested during this
      // execution is not: a replay may get the notification earlier or later, and the next poll is two seconds away.
      outcome.pollRequested = (state.input.poll_requested ?? false) || (execution.was_final ?? false);
      return state.applyRecord(execution.order);
    }
    // Nothing is recorded, and the outcome is unknown: no update waits for it, as a new run waits for all updates.
    state.firstAnswerKnown = true;
    const { result, attention } = execution;
    showAttention(attention);
    const left_ms = state.last_poll_at - state.clock.now();
    if (result === 'unanswered') {
      await outcome.pause('until the processor is polled again');
    } else if (result === 'undecided') {
      // Polled on request while the customer is still in 3-D Secure: the payment may yet be approved.
      await (left_ms > 0 ? untilLastPoll(state) : pauseUndecided(state, attention));
    } else if (!outcome.pollRequested) return;
    // Otherwise a poll was requested during this one, whose answer may be out of date: poll again.
    await continueInNewRunWhenLong(state);
  }
}

/** Waits until the last poll about a late approval is due, or a poll is requested. */
async function untilLastPoll(state: FollowUpState): Promise<void> {
  const { outcome, waits, last_poll_at } = state;
  do {
    if (state.recordIsStale) await state.refreshRecord();
    await waits.until(
      { at: last_poll_at, summary: UNTIL_LAST_POLL },
      () => outcome.pollRequested || state.hasChangedSince(undefined),
    );
  } while (state.recordIsStale);
}

/**
 * The processor may still approve the payment that has ended: polls again in an hour. Once the order has `attention`,
 * recovery requests a poll every six hours instead.
 */
async function pauseUndecided(state: FollowUpState, attention: string | undefined): Promise<void> {
  const { outcome, waits } = state;
  const isMet = () => outcome.pollRequested || state.needsNewRun;
  if (attention !== undefined) return await waits.untilMet(isMet);
  await waits.pause({ milliseconds: POLL_LATE_CHALLENGE_MS.first_day, summary: UNTIL_LAST_POLL }, isMet);
}

async function pollOutcome({ outcome }: FollowUpState): Promise<void> {
  await outcome.pause('until the outcome is polled again');
  await outcome.poll();
}

/** Continues in a new run when the history is long. */
async function continueInNewRunWhenLong(state: FollowUpState): Promise<void> {
  if (!state.needsNewRun) return;
  const { input, clock, outcome, last_poll_at } = state;
  await state.continueInNewRun<FollowUpInput>(() => {
    const left_ms = last_poll_at - clock.now();
    return {
      ...input,
      clock_offset_ms: clock.offset_ms,
      polls: outcome.polls,
      poll_requested: outcome.pollRequested,
      poll_after_ms: left_ms > 0 ? left_ms : undefined,
    };
  });
}

const UNTIL_LAST_POLL = 'until the processor is polled about a late approval';
