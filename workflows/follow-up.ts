import { ActivityFailure, allHandlersFinished, condition, continueAsNew, setCurrentDetails, setHandler, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { OrderRecord } from '../src/domain/move';
import { ASKED_TOO_OFTEN, askAgainAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { answering, asking } from './activities';
import { firstAnswer, processorAnswered, type FollowUpInput } from './messages';
import { describeFollowUp } from './order-details';
import { ATTENTION, ORDER_STATUS } from './search-attributes';

/**
 * The life of one follow-up order: a capture, void, refund, chargeback or reversal. It is written and carried out at once; while
 * the processor has not told what became of it, it is asked for by its key, however long that takes.
 */
export async function followUp(input: FollowUpInput): Promise<string> {
  let present: OrderRecord | undefined;
  let refusal: Error | undefined;
  let answered = false;
  let toldToAsk = false;
  let asked = 0;

  const became = (after: OrderRecord) => {
    // It starts with `new`, which costs no event.
    if ((present?.status ?? 'new') !== after.status) upsertSearchAttributes([{ key: ORDER_STATUS, value: after.status }]);
    if (after.attention !== undefined && present?.attention === undefined) upsertSearchAttributes([{ key: ATTENTION, value: after.attention }]);
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

  const news = async (milliseconds: number, summary: string) => {
    await condition(() => toldToAsk, milliseconds, { summary });
    asked += 1;
  };

  const asked_last_at = Date.now() + (input.ask_after_ms ?? 0);
  if (input.ask_after_ms !== undefined) await news(input.ask_after_ms, UNTIL_ASKED_LAST);
  try {
    let recorded: OrderRecord | 'unanswered' | null;
    for (;;) {
      toldToAsk = false;
      recorded = await answering.recordAndCarryOut({ ...input, now: Date.now() });
      if (recorded === 'unanswered') await news(askAgainAfter(asked), 'until the processor is asked again what it has done');
      // Told to ask while the customer is still at the issuer: it may be approved yet.
      else if (recorded === null && Date.now() < asked_last_at) {
        answered = true;
        await news(asked_last_at - Date.now(), UNTIL_ASKED_LAST);
      }
      // News that came meanwhile may tell what was not known a moment ago.
      else if (recorded !== null || !toldToAsk) break;
    }
    if (recorded !== null) became(recorded);
  } catch (error) {
    refusal = error instanceof ActivityFailure && error.cause ? error.cause : (error as Error);
  }
  answered = true;

  while (present !== undefined) {
    const current: OrderRecord = present;
    if (current.deliveries.length > 0) {
      await answering.startDeliveries({ order_id: input.order_id, deliveries: current.deliveries });
      present = { ...current, deliveries: [] };
    } else if (isFinal(ORDER_MOVES, current.status)) {
      break;
    } else {
      await news(askAgainAfter(asked), 'until the processor is asked for the outcome again');
      toldToAsk = false;
      if (asked === ASKED_TOO_OFTEN) upsertSearchAttributes([{ key: ATTENTION, value: 'the processor does not tell the outcome' }]);
      became(await asking.askFollowUp({ ...input, order: current, now: Date.now() }));
      if (workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        await continueAsNew<typeof followUp>({ ...input, ask_after_ms: undefined });
      }
    }
  }
  await condition(allHandlersFinished);
  return present?.status ?? 'refused';
}

const UNTIL_ASKED_LAST = 'until the processor is asked whether it approved after all';
