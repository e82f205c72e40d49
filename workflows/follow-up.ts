import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OrderRecord } from '../src/domain/order-record';
import { POLLS_BEFORE_ATTENTION, pollAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { local, polling } from './activities';
import { temporalClock } from './clock';
import { firstAnswer, processorAnswered, type FollowUpInput } from './messages';
import { OUTCOME_OVERDUE, describeFollowUp } from './order-details';
import { ATTENTION, ORDER_STATUS } from './search-attributes';

/**
 * The life of one follow-up order: a capture, void, refund, chargeback or reversal. It is written and executed at once; until the
 * processor gives an outcome, it is polled by the operation's key. Returns the order's final status, or `refused`.
 */
export async function followUp(input: FollowUpInput): Promise<string> {
  const state = new FollowUpState(input);
  setFollowUpHandlers(state);
  if (input.poll_after_ms !== undefined) await state.waitForPoll(input.poll_after_ms, UNTIL_LAST_POLL);
  await executeOrRefuse(state);
  while (state.record !== undefined) {
    await continueInNewRunWhenLong(state);
    const { deliveries, status } = state.record;
    if (deliveries.length > 0) await startDeliveries(state);
    else if (!isFinal(ORDER_MOVES, status)) await pollOutcome(state);
    else break;
  }
  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

/** What the workflow of one follow-up order knows: the order as recorded, and the little that the record does not say. */
class FollowUpState {
  readonly clock = temporalClock;
  /** The order as last recorded; undefined until it exists. */
  record: OrderRecord | undefined;
  /** Why the order was refused; then there is none. */
  refusal: ApplicationFailure | undefined;
  /** The order is done, refused, or its outcome unknown: `firstAnswer` is due. */
  firstAnswerKnown = false;
  /** The processor is to be asked now instead of later. */
  pollRequested = false;
  /** How often the processor was asked by schedule. */
  polls: number;
  /** A possible late approval is asked about whenever that is requested, and for the last time at this instant. Epoch milliseconds. */
  readonly last_poll_at: number;

  constructor(readonly input: FollowUpInput) {
    this.polls = input.polls ?? 0;
    this.last_poll_at = this.clock.now() + (input.poll_after_ms ?? 0);
  }

  /** Every change goes through here, so that the operator sees the order as recorded. */
  applyRecord(record: OrderRecord): void {
    // The start request already set OrderStatus to `new`; setting it again costs an event.
    if ((this.record?.status ?? 'new') !== record.status) {
      upsertSearchAttributes([{ key: ORDER_STATUS, value: record.status }]);
    }
    if (record.attention !== undefined && this.record?.attention === undefined) {
      upsertSearchAttributes([{ key: ATTENTION, value: record.attention }]);
    }
    this.record = record;
    setCurrentDetails(describeFollowUp(this.input, record, workflowInfo().namespace));
  }

  /** Waits until a poll is due or requested. A requested one does not count, so it does not slow down the schedule. */
  async waitForPoll(milliseconds: number, summary: string): Promise<void> {
    const isRequested = () => this.pollRequested || workflowInfo().continueAsNewSuggested;
    if (!(await condition(isRequested, milliseconds, { summary }))) this.polls += 1;
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
  setHandler(
    processorAnswered,
    () => {
      state.pollRequested = true;
    },
    { description: 'The processor may have an outcome: ask it now.' },
  );
}

/** Executes the order. A refusal is its first answer; any other failure is a bug, which Temporal shows and retries until it is fixed. */
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
    const { result, order } = await local.executeFollowUp({ ...state.input, now: state.clock.now() });
    if (result === 'recorded') return state.applyRecord(order);
    const left_ms = state.last_poll_at - state.clock.now();
    if (result === 'unanswered') {
      await state.waitForPoll(pollAfter(state.polls), 'until the processor is asked again what it has done');
    } else if (left_ms > 0) {
      // Polled on request while the customer is still in 3-D Secure: the payment may yet be approved.
      state.firstAnswerKnown = true;
      await state.waitForPoll(left_ms, UNTIL_LAST_POLL);
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
  const order = state.record!;
  await state.waitForPoll(pollAfter(state.polls), 'until the processor is asked for the outcome again');
  state.pollRequested = false;
  if (state.polls === POLLS_BEFORE_ATTENTION) upsertSearchAttributes([{ key: ATTENTION, value: OUTCOME_OVERDUE }]);
  state.applyRecord(await polling.pollFollowUp({ ...state.input, order, now: state.clock.now() }));
}

/** When the history is long, goes on in a new run. */
async function continueInNewRunWhenLong(state: FollowUpState): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(allHandlersFinished);
  const left_ms = state.last_poll_at - state.clock.now();
  await continueAsNew<typeof followUp>({
    ...state.input,
    polls: state.polls,
    poll_after_ms: left_ms > 0 ? left_ms : undefined,
  });
}

const UNTIL_LAST_POLL = 'until the processor is asked whether it approved after all';
