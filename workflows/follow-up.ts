import { ActivityFailure, allHandlersFinished, condition, setCurrentDetails, setHandler, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { OrderRecord } from '../src/domain/move';
import { askAgainAfter } from '../src/domain/transaction';
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
  let refusal: unknown;
  let answered = false;
  let toldToAsk = false;

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

  try {
    const recorded = await answering.recordAndCarryOut({ ...input, now: Date.now() });
    if (recorded !== null) became(recorded);
  } catch (error) {
    refusal = error instanceof ActivityFailure && error.cause ? error.cause : error;
  }
  answered = true;

  let asked = 0;
  while (present !== undefined) {
    const current: OrderRecord = present;
    if (current.deliveries.length > 0) {
      await answering.startDeliveries({ order_id: input.order_id, deliveries: current.deliveries });
      present = { ...current, deliveries: [] };
    } else if (isFinal(ORDER_MOVES, current.status)) {
      break;
    } else {
      await condition(() => toldToAsk, askAgainAfter(asked), { summary: 'until the processor is asked for the outcome again' });
      toldToAsk = false;
      asked += 1;
      became(await asking.askFollowUp({ ...input, order: current, now: Date.now() }));
    }
  }
  await condition(allHandlersFinished);
  return present?.status ?? 'refused';
}
