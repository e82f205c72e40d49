import { v7 as uuidv7 } from 'uuid';
import { followUpIdempotencyKey } from '../../src/domain/follow-up';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import type { Processor } from '../../src/processor/client';
import { ORDER_STATUS, orderWorkflowId, processorAnswered } from '../../workflows/messages';
import { CARDS, transactionIdOf } from '../support/domain';
import { Merchant } from '../support/merchant';
import { setUp } from '../support/set-up';
import { runProcessor } from '../support/processor';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import { createAnOrder, startFollowUp, followUpOf, statusesOfRow } from '../support/workflow-orders';

/** Workflows whose history is long, and which go on in a new run. */

/** More than an operation of unknown outcome has before its first poll. */
const EVENTS_MAX = 40;

const merchant = new Merchant();
/** Called when the processor has answered a poll, before the service gets the answer. */
let onAnswer: (key: string) => Promise<void> = () => Promise.resolve();
const world = setUp(() => {
  const processor = runProcessor();
  const polled: Processor = {
    ...processor,
    async findOperation(key, expected) {
      const answer = await processor.findOperation(key, expected);
      await onAnswer(key);
      return answer;
    },
  };
  return createWorkflowEnvironment({ services: { processor: polled }, events_max: EVENTS_MAX });
});
afterEach(() => merchant.removeFaults());

const noAnswerAbout = (idempotency_key: string) =>
  merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key });

/** Operations whose answer is lost, and about which the processor says nothing. */
const UNKNOWN = {
  async charge(id: string) {
    const key = chargeIdempotencyKey(transactionIdOf(id, 1));
    await noAnswerAbout(key);
    await createAnOrder(world, { id, card_number: CARDS.lost_answer.number });
    return key;
  },
  async refund(id: string) {
    const order = await createAnOrder(world, { card_number: CARDS.approved.number });
    const key = followUpIdempotencyKey(transactionIdOf(order.id, 1), 'refund', id);
    await noAnswerAbout(key);
    await merchant.addFault({ kind: 'lost_answer', operation: 'refund', order_id: order.id });
    await startFollowUp(world, followUpOf(order.id, 'refund', { id, amount: 200 }));
    return key;
  },
};

test.each(['charge', 'refund'] as const)(
  'rules 10.9: the new run of a %s polls at once when a notification came during the last poll',
  async (operation) => {
    const id = uuidv7();
    const key = await UNKNOWN[operation](id);
    expect(await statusesOfRow(world, id)).toBe('processing: processing');
    const { client } = world.env;
    const handle = client.workflow.getHandle(orderWorkflowId(id));
    const first = await handle.describe();
    const notify = () => handle.signal(processorAnswered);

    onAnswer = async (polled) => {
      if (polled !== key) return;
      onAnswer = () => Promise.resolve();
      await Promise.all(Array.from({ length: EVENTS_MAX }, notify));
    };
    await notify();
    await until('there is a new run', async () => (await handle.describe()).runId !== first.runId);
    // Not before: a poll that a busy machine repeats would have the outcome.
    await merchant.removeFaults();
    await until('the outcome is known', async () => (await statusesOfRow(world, id)) === 'completed: accepted');
    expect(await handle.result()).toBe('completed');

    const second = await handle.describe();
    expect(second.typedSearchAttributes.get(ORDER_STATUS)).toBe('completed');
    const { events } = await handle.fetchHistory();
    const begun = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: activity, timerStartedEventAttributes: timer }) =>
        activity?.activityType?.name ?? (timer ? 'a wait' : []),
    );
    expect(begun[0]).toMatch(/^poll/);
  },
);
