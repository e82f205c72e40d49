import { WorkflowNotFoundError } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { findWebhookRecovery, moveWebhookRecovery } from '../../src/db/webhooks/recoveries';
import { followUpIdempotencyKey } from '../../src/domain/follow-up';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { processorOrderId } from '../../src/ids';
import type { Processor } from '../../src/processor/client';
import { createWorkflowClients } from '../../src/temporal/workflows';
import {
  ORDER_STATUS,
  deliveryWorkflowId,
  orderWorkflowId,
  processorAnswered,
  recordChanged,
  webhookRecoveryWorkflowId,
} from '../../workflows/messages';
import { CARDS, PROJECT, transactionIdOf } from '../support/domain';
import { Merchant } from '../support/merchant';
import { runProcessor } from '../support/processor';
import { aFailedDelivery, aWebhookRecovery } from '../support/rows';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import { createAnOrder, startFollowUp, followUpOf, statusesOfRow } from '../support/workflow-orders';

/** Workflows whose history is long, and which go on in a new run. */

/** More than an operation of unknown outcome has before its first poll. */
const EVENTS_MAX = 40;

const merchant = new Merchant();
const receiver = setUp(startReceiver);
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
  return createWorkflowEnvironment({
    services: { processor: polled },
    webhook_url: receiver.url,
    events_max: EVENTS_MAX,
  });
});
beforeEach(() => receiver.answer((response) => response.writeHead(200).end()));
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

test('rules 10.9: what the processor does not know yet goes on in a new run although its first answer is waited for', async () => {
  const { id } = await createAnOrder(world, { card_number: CARDS.approved.number });
  const original_transaction_id = transactionIdOf(id, 1);
  const processor_key = `${original_transaction_id}:unknown`;
  const chargeback = followUpOf(id, 'chargeback', {
    id: processorOrderId(original_transaction_id, processor_key),
    requested_by: 'processor',
    processor_key,
  });
  const handle = world.env.client.workflow.getHandle(orderWorkflowId(chargeback.id));
  const answered = startFollowUp(world, chargeback);
  const { runId } = await until('it has begun', () => handle.describe().catch(() => undefined));
  await Promise.all(Array.from({ length: EVENTS_MAX }, () => handle.signal(processorAnswered)));
  await until('there is a new run', async () => (await handle.describe()).runId !== runId);
  await answered;
});

test('rules 24.11: signals to a webhook make no history without an end, and no attempt comes before its time', async () => {
  receiver.answer((response) => response.writeHead(500).end());
  const { id: order_id } = await createAnOrder(world, { card_number: CARDS.approved.number });
  const attempts = async () => (await world.database.db('webhook_attempts').where({ order_id })).length;
  await until('the first attempt failed', async () => (await attempts()) === 1);
  const handle = world.env.client.workflow.getHandle(deliveryWorkflowId({ order_id, n: 1 }));
  const { runId } = await handle.describe();
  for (let n = 0; n < EVENTS_MAX; n += 1) await handle.signal(recordChanged);
  await until('there is a new run', async () => (await handle.describe()).runId !== runId);
  expect(await attempts()).toBe(1);
  // It is the record that the new run goes on from.
  receiver.answer((response) => response.writeHead(200).end());
  await world.database
    .db('webhook_deliveries')
    .where({ order_id })
    .update({ next_attempt_at: new Date(0) });
  // A new run that begins only now reads the record, and may have ended by itself.
  await handle.signal(recordChanged).catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
  expect(await handle.result()).toBe('delivered');
});

test('rules 13.17, 13.18: paused by failures it waits, in new runs too; resumed it ends once all are sent', async () => {
  const { db } = world.database;
  for (let n = 0; n < 25; n += 1) await aFailedDelivery(db, receiver.url);
  receiver.answer((response) => response.writeHead(500).end());
  const recovery_id = await aWebhookRecovery(db);
  const { webhook_recoveries } = createWorkflowClients({ client: world.env.client, db });
  await webhook_recoveries.start({ recovery_id, project_id: PROJECT.id });
  const find = async () => (await findWebhookRecovery(db, recovery_id))!;
  await until('it is paused', async () => (await find()).status === 'paused');
  const { sent } = await find();
  expect(sent).toBeLessThanOrEqual(20);

  const handle = world.env.client.workflow.getHandle(webhookRecoveryWorkflowId(recovery_id));
  const { runId } = await handle.describe();
  for (let n = 0; n < EVENTS_MAX; n += 1) await handle.signal(recordChanged);
  await until('there is a new run', async () => (await handle.describe()).runId !== runId);
  expect((await find()).sent).toBe(sent);

  receiver.answer((response) => response.writeHead(200).end());
  await moveWebhookRecovery(db, recovery_id, { to: 'running', now: new Date() });
  await webhook_recoveries.resume({ recovery_id, project_id: PROJECT.id });
  expect(await handle.result()).toBe('completed');
  expect(await find()).toMatchObject({ status: 'completed', sent: 25 });
});
