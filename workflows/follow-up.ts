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
import { firstAnswer, processorAnswered, type FollowUpInput } from './messages';
import { OUTCOME_OVERDUE, describeFollowUp } from './order-details';
import { ATTENTION, ORDER_STATUS } from './search-attributes';

/**
 * The life of one follow-up order: a capture, void, refund, chargeback or reversal. It is written and carried out at once; until
 * the processor gives an outcome, the workflow keeps asking by its key. Returns the order's final status, or `refused`.
 */
export async function followUp(input: FollowUpInput): Promise<string> {
  let present: OrderRecord | undefined;
  let refusal: ApplicationFailure | undefined;
  let answered = false;
  let toldToAsk = false;
  let asked = input.polls ?? 0;
  /** A late approval is asked about whenever there is news, and once more at this instant. */
  const asked_last_at = Date.now() + (input.poll_after_ms ?? 0);

  /** Every change goes through here, so that the operator sees the recorded state. */
  const became = (after: OrderRecord) => {
    // The start request already set OrderStatus to `new`; setting it again costs an event.
    if ((present?.status ?? 'new') !== after.status) {
      upsertSearchAttributes([{ key: ORDER_STATUS, value: after.status }]);
    }
    if (after.attention !== undefined && present?.attention === undefined) {
      upsertSearchAttributes([{ key: ATTENTION, value: after.attention }]);
    }
    present = after;
    setCurrentDetails(describeFollowUp(input, after, workflowInfo().namespace));
  };

  setHandler(firstAnswer, async () => {
    await condition(() => answered);
    if (refusal !== undefined) throw refusal;
  });
  setHandler(processorAnswered, () => {
    toldToAsk = true;
  });

  if (input.poll_after_ms !== undefined) await waitForNews(input.poll_after_ms, UNTIL_ASKED_LAST);
  try {
    await untilRecorded();
  } catch (failure) {
    // A refusal is an answer. Anything else is a bug: Temporal shows it and retries until it is fixed.
    const cause = failure instanceof ActivityFailure ? failure.cause : failure;
    if (!(cause instanceof ApplicationFailure)) throw failure;
    refusal = cause;
  }
  answered = true;

  while (present !== undefined) {
    await goOnAsNewWhenLong();
    const current: OrderRecord = present;
    if (current.deliveries.length > 0) {
      await local.startDeliveries({ order_id: input.id, deliveries: current.deliveries });
      present = { ...current, deliveries: [] };
    } else if (!isFinal(ORDER_MOVES, current.status)) {
      await askForOutcome(current);
    } else break;
  }
  await condition(allHandlersFinished);
  return present?.status ?? 'refused';

  /** Returns once the order is written, or there is nothing to write. */
  async function untilRecorded(): Promise<void> {
    for (;;) {
      await goOnAsNewWhenLong();
      toldToAsk = false;
      const { done, order } = await local.executeFollowUp({ ...input, now: Date.now() });
      if (done === 'recorded') return became(order);
      if (done === 'unanswered') {
        await waitForNews(pollAfter(asked), 'until the processor is asked again what it has done');
      } else if (Date.now() < asked_last_at) {
        // Signalled while the customer is still in 3-D Secure: it may yet be approved, so wait on.
        answered = true;
        await waitForNews(asked_last_at - Date.now(), UNTIL_ASKED_LAST);
      }
      // If a signal came while we were asking, the answer may have changed.
      else if (!toldToAsk) return;
    }
  }

  async function askForOutcome(current: OrderRecord): Promise<void> {
    await waitForNews(pollAfter(asked), 'until the processor is asked for the outcome again');
    toldToAsk = false;
    if (asked === POLLS_BEFORE_ATTENTION) upsertSearchAttributes([{ key: ATTENTION, value: OUTCOME_OVERDUE }]);
    became(await polling.pollFollowUp({ ...input, order: current, now: Date.now() }));
  }

  async function waitForNews(milliseconds: number, summary: string): Promise<void> {
    // Asking after a signal does not count, so it does not slow down the schedule.
    if (!(await condition(() => toldToAsk || workflowInfo().continueAsNewSuggested, milliseconds, { summary }))) {
      asked += 1;
    }
  }

  /** Continues in a new run when the history is long. */
  async function goOnAsNewWhenLong(): Promise<void> {
    if (!workflowInfo().continueAsNewSuggested) return;
    await condition(allHandlersFinished);
    const left_ms = asked_last_at - Date.now();
    await continueAsNew<typeof followUp>({ ...input, polls: asked, poll_after_ms: left_ms > 0 ? left_ms : undefined });
  }
}

const UNTIL_ASKED_LAST = 'until the processor is asked whether it approved after all';
