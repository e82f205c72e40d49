import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { followUpIdempotencyKey } from '../src/domain/follow-up';
import { oneAtATime } from '../src/domain/one-at-a-time';
import { lastTransaction, type OrderRecord } from '../src/domain/order-record';
import { POLL_LATE_CHALLENGE_MS, pollAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { local, polling } from './activities';
import { ObjectClock, temporalClock } from './clock';
import { setUpdateHandler } from './inputs';
import {
  clockMoved,
  firstAnswer,
  pollNow,
  processorAnswered,
  settleByHand,
  type FollowUpInput,
  type SettleByHandInput,
} from './messages';
import { SETTLE_BY_HAND, describeFollowUp, inWords, show, showAttention } from './operator-view';
import { notAwaited } from './refusal';
import { Waits } from './wait';

/**
 * The life of one follow-up order: a capture, void, refund, chargeback or reversal. It is written and executed at once;
 * until the processor gives an outcome, it is polled by the operation's key. Returns the order's final status, or
 * `refused`.
 */
export async function followUp(input: FollowUpInput): Promise<string> {
  const state = new FollowUpState(input);
  setFollowUpHandlers(state);
  if ((input.clock_offset_ms ?? 0) > 0) await state.readClock();
  if (input.poll_after_ms !== undefined) await state.untilLastPoll();
  await executeOrRefuse(state);
  while (state.record !== undefined) {
    await continueInNewRunWhenLong(state);
    const { deliveries, status } = state.record;
    if (deliveries.length > 0) await startDeliveries(state);
    else if (!isFinal(ORDER_MOVES, status)) await pollOutcome(state);
    else if (shouldVerifyOutcome(state)) await verifySettlement(state);
    else break;
  }
  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

/**
 * The state of a follow-up order's workflow: the order as recorded, and the little that the record does not say.
 */
class FollowUpState {
  readonly clock = new ObjectClock();
  readonly waits = new Waits(this.clock);
  /** Polls and settlements run in here, one at a time. */
  readonly inTurn = oneAtATime();
  /** The order as last recorded; undefined until it exists. */
  record: OrderRecord | undefined;
  /** Why the order was refused; then there is none. */
  refusal: ApplicationFailure | undefined;
  /** The order is done, refused, or its outcome unknown: `firstAnswer` is due. */
  firstAnswerKnown = false;
  /** The processor is to be asked now instead of later. */
  pollRequested: boolean;
  /** This run has compared the outcome set by hand with the processor's. */
  settlementVerified = false;
  /** How often the processor was asked by schedule. */
  polls: number;
  /**
   * A possible late approval is asked about whenever that is requested, and for the last time at this instant. Epoch
   * milliseconds.
   */
  readonly last_poll_at: number;

  constructor(readonly input: FollowUpInput) {
    this.polls = input.polls ?? 0;
    this.pollRequested = input.poll_requested ?? false;
    this.last_poll_at = temporalClock.now() + (input.clock_offset_ms ?? 0) + (input.poll_after_ms ?? 0);
  }

  /** Every change goes through here, so that the operator sees the order as recorded. */
  applyRecord(record: OrderRecord): void {
    this.clock.moveTo(record.clock_offset_ms);
    this.record = { ...record, clock_offset_ms: this.clock.offset_ms };
    show(record, describeFollowUp(this.input, record, workflowInfo().namespace));
  }

  /** Asks the processor for the outcome, if that is still open. */
  async poll(): Promise<void> {
    if (this.record === undefined || isFinal(ORDER_MOVES, this.record.status)) return;
    this.pollRequested = false;
    const order = this.record;
    const now = this.clock.now();
    this.applyRecord(await polling.pollFollowUp({ ...this.input, order, now, poll_at: now + pollAfter(this.polls) }));
  }

  /** The merchant has moved the clock of the payment order. */
  async readClock(): Promise<void> {
    const { original_order_id: order_id } = this.input;
    await this.clock.refresh(async () => (await local.findOrder({ order_id }))?.clock_offset_ms);
    if (this.record !== undefined) this.applyRecord(this.record);
  }

  /**
   * Leaves the processor alone until the next poll by schedule, in real time, unless one is requested or an operator
   * changed the order. Only a poll by schedule counts for it.
   */
  async pause(summary: string): Promise<void> {
    const wait = { milliseconds: pollAfter(this.polls), summary };
    if (!(await this.waits.pause(wait, this.interruption()))) this.polls += 1;
  }

  /** Waits until a late approval is asked about for the last time, or that is requested. */
  async untilLastPoll(): Promise<void> {
    await this.waits.until({ at: this.last_poll_at, summary: UNTIL_LAST_POLL }, this.interruption());
  }

  /**
   * The processor may still approve the payment that has ended: waits an hour until it is asked again. Once an operator has
   * to look, recovery has it asked, every six hours.
   */
  async pauseUndecided(attention: string | undefined): Promise<void> {
    const wait = { milliseconds: POLL_LATE_CHALLENGE_MS.first_day, summary: UNTIL_LAST_POLL };
    await (attention === undefined
      ? this.waits.pause(wait, this.interruption())
      : this.waits.untilMet(this.interruption()));
  }

  private interruption(): () => boolean {
    const version = this.record?.version;
    return () => this.pollRequested || this.record?.version !== version || workflowInfo().continueAsNewSuggested;
  }
}

function setFollowUpHandlers(state: FollowUpState): void {
  setHandler(
    firstAnswer,
    async () => {
      await condition(() => state.firstAnswerKnown);
      if (state.refusal !== undefined) throw state.refusal;
    },
    { description: 'Completes when the order is done, refused, or its outcome unknown.' },
  );
  setHandler(pollNow, () => state.inTurn(() => poll(state)), {
    description: 'Asks the processor for the outcome now. Answers what the order waits for then. Always safe.',
  });
  setUpdateHandler(settleByHand, (settlement) => state.inTurn(() => settle(state, settlement)), {
    description: SETTLE_BY_HAND,
  });
  setHandler(
    processorAnswered,
    () => {
      state.pollRequested = true;
    },
    { description: 'The processor may have an outcome: ask it now.' },
  );
  setHandler(clockMoved, () => state.readClock(), {
    description: 'The sandbox clock of the payment order was moved.',
  });
}

async function poll(state: FollowUpState): Promise<string> {
  await state.poll();
  if (state.record !== undefined) return inWords(state.record);
  state.pollRequested = true;
  return 'Nothing is recorded yet: the processor is asked now whether there is something to record.';
}

async function settle(state: FollowUpState, settlement: SettleByHandInput): Promise<string> {
  const before = await poll(state);
  if (state.record === undefined || isFinal(ORDER_MOVES, state.record.status)) throw notAwaited(before);
  if (settlement.transaction_id !== lastTransaction(state.record)?.id) throw notAwaited(before);
  state.settlementVerified = true;
  state.applyRecord(await local.settleFollowUp({ ...state.input, settlement, now: state.clock.now() }));
  const words = inWords(state.record);
  if (lastTransaction(state.record)?.settled_by_hand !== true) throw notAwaited(words);
  return words;
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
  for (;;) {
    await continueInNewRunWhenLong(state);
    state.pollRequested = false;
    const execution = await local.executeFollowUp({ ...state.input, now: state.clock.now() });
    if (execution.result === 'recorded') {
      // Recorded before: the processor has not been asked since the poll was requested.
      state.pollRequested ||= (state.input.poll_requested ?? false) || (execution.was_final ?? false);
      return state.applyRecord(execution.order);
    }
    const { result, attention } = execution;
    showAttention(attention);
    const left_ms = state.last_poll_at - state.clock.now();
    if (result === 'unanswered') {
      await state.pause('until the processor is asked again what it has done');
    } else if (result === 'undecided' && left_ms <= 0) {
      state.firstAnswerKnown = true;
      await state.pauseUndecided(attention);
    } else if (left_ms > 0) {
      // Polled on request while the customer is still in 3-D Secure: the payment may yet be approved.
      state.firstAnswerKnown = true;
      await state.untilLastPoll();
    } else if (!state.pollRequested) return;
    // Otherwise a poll was requested during this one, whose answer may be out of date.
  }
}

async function startDeliveries(state: FollowUpState): Promise<void> {
  const record = state.record!;
  const { id: order_id, project_id, deliveries } = record;
  await local.startDeliveries({ order_id, project_id, deliveries });
  state.record = { ...record, deliveries: [] };
}

async function pollOutcome(state: FollowUpState): Promise<void> {
  await state.pause('until the processor is asked for the outcome again');
  await state.inTurn(() => state.poll());
}

/**
 * The processor may contradict the recorded outcome: there is a sign of it, or the outcome was set by hand and this run
 * has not compared yet. What the processor did itself is recorded as it says.
 */
function shouldVerifyOutcome({ input, record, settlementVerified, pollRequested }: FollowUpState): boolean {
  if (input.requested_by === 'processor') return false;
  const last = record && lastTransaction(record);
  return pollRequested || (last?.settled_by_hand === true && !settlementVerified);
}

/** Compares the recorded outcome with the processor's; a contradiction is shown to the operator (rules 10.18). */
async function verifySettlement(state: FollowUpState): Promise<void> {
  const { id, kind, original_transaction_id } = state.input;
  const key = followUpIdempotencyKey(original_transaction_id, kind, id);
  state.settlementVerified = true;
  state.pollRequested = false;
  state.applyRecord(await local.verifySettlement({ order_id: id, key, now: state.clock.now() }));
}

/** When the history is long, goes on in a new run. */
async function continueInNewRunWhenLong(state: FollowUpState): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(allHandlersFinished);
  const left_ms = state.last_poll_at - state.clock.now();
  await continueAsNew<typeof followUp>({
    ...state.input,
    clock_offset_ms: state.clock.offset_ms,
    polls: state.polls,
    poll_requested: state.pollRequested,
    poll_after_ms: left_ms > 0 ? left_ms : undefined,
  });
}

const UNTIL_LAST_POLL = 'until the processor is asked whether it approved after all';
