import { v7 as uuidv7 } from 'uuid';
import { NO_FIGURES } from '../../src/db/audit/audit-progress';
import { closeIncident, findIncident, recordDifferences } from '../../src/db/audit/incidents';
import { queryRows } from '../../src/db/query';
import type { Settlement } from '../../src/processor/wire';
import { createWorkflowClients } from '../../src/temporal/workflows';
import {
  AUDIT_WORKFLOW,
  SEARCH_INDEX_CHECK_WORKFLOW,
  SETTLEMENTS_WORKFLOW,
  TASK_QUEUE,
  incidentWorkflowId,
} from '../../workflows/messages';
import { CARDS, MINUTE, PROJECT, transactionIdOf } from '../support/domain';
import { readLedger } from '../support/ledger';
import { runProcessor } from '../support/processor';
import { writeOrders } from '../support/rows';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import { becomesDue, createAnOrder, moneySummaryOf } from '../support/workflow-orders';

/** The workflows of schedules and incidents, in one world. In this order: the first two count all orders of the record. */

/** How often the processor still fails, and whether the index does. */
const failures = { operations: 0, settlements: 0 };
let index_is_away = false;
let settled: Settlement[] = [];
const receiver = setUp(startReceiver);
const world = setUp(() => {
  const processor = {
    ...runProcessor(),
    async operations() {
      if (failures.operations-- > 0) throw new Error('away');
      return [];
    },
    async settlements(after: number) {
      if (failures.settlements-- > 0) throw new Error('away');
      return settled.filter((one) => one.number > after);
    },
    totals: async () => [],
  };
  const index = {
    async documents() {
      if (index_is_away) throw new Error('away');
      return [];
    },
    async *orderIds() {},
    count: async () => 0,
  };
  const secret = 'whsec_b3BlcmF0b3Igd2ViaG9vayBvZiB0aGUgdGVzdHM=';
  return createWorkflowEnvironment({ services: { processor, index, operator_webhook: { url: receiver.url, secret } } });
});

const start = (workflow: string, workflowId: string) =>
  world.env.client.workflow.start(workflow, { workflowId, taskQueue: TASK_QUEUE });

test('an audit waits while the processor is away, and ends with what it has compared', async () => {
  failures.operations = 2;
  const handle = await start(AUDIT_WORKFLOW, 'audit');
  expect(await handle.result()).toEqual(NO_FIGURES);
  expect(failures.operations).toBeLessThan(0);
  // A part of it reports every two seconds: Temporal gives it to another worker once one has been silent for 20.
  const { events } = await handle.fetchHistory();
  const parts = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: part }) => part ?? []);
  expect(parts.map(({ heartbeatTimeout }) => Number(heartbeatTimeout?.seconds))).toEqual([20]);
});

test('a check of the index waits while the index is away, and has what it lacks written again', async () => {
  const { db } = world.database;
  const [order_id] = await writeOrders(db, [{}]);
  await queryRows(db, 'delete from search_outbox');
  index_is_away = true;
  const handle = await start(SEARCH_INDEX_CHECK_WORKFLOW, 'search-index-check');
  await world.env.sleep('1 hour');
  index_is_away = false;
  const found = { orders: 1, rows: 1, missing: 1, different: 0, unknown: 0, refused: 0 };
  expect(await handle.result()).toEqual(found);
  expect(await queryRows(db, 'select order_id from search_outbox')).toEqual([{ order_id }]);
});

test('rules 26.5 and 26.7: an incident has Attention until it is closed, and tries each event ten times, two minutes apart', async () => {
  const { db } = world.database;
  const { incidents } = createWorkflowClients({ client: world.env.client, db });
  receiver.answer((response, n) => response.writeHead(n <= 10 ? 500 : 200).end());
  const [order_id, transaction_id] = [uuidv7(), uuidv7()];
  const of = { kind: 'status', object_id: transaction_id, project_id: PROJECT.id, order_id, transaction_id } as const;
  const differs = { currency: 'EUR', record_amount: 0, processor_amount: 100, description: 'A difference.' };
  const [incident_id] = await recordDifferences(db, [{ ...of, ...differs }], Date.now());
  await incidents.start({ incident_id: incident_id! });
  const handle = world.env.client.workflow.getHandle(incidentWorkflowId(incident_id!));
  await world.env.sleep(30 * MINUTE);
  expect(receiver.received).toHaveLength(10);
  expect((await findIncident(db, incident_id!))!.opened_event).toBe('failed');
  expect((await handle.describe()).searchAttributes['Attention']).toEqual([
    'the record and the processor differ: status',
  ]);
  const { events } = await handle.fetchHistory();
  const timers = (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) => timer ?? []);
  expect(timers.map(({ startToFireTimeout }) => Number(startToFireTimeout?.seconds))).toEqual(Array(9).fill(120));

  await closeIncident(db, incident_id!, { closed_by: 'operator', reason: 'Known.', now: Date.now() });
  await incidents.resume({ incident_id: incident_id! });
  expect(await handle.result()).toBe('closed, an event was not delivered');
  expect(JSON.parse((await until('the event comes', () => receiver.received[10])).body)).toMatchObject({
    event: 'incident_closed',
  });
  expect((await handle.describe()).searchAttributes['Attention']).toEqual(["the operator's webhook failed 10 times"]);
});

const fetchSettlements = async (workflowId: string) => {
  const handle = await start(SETTLEMENTS_WORKFLOW, workflowId);
  const result: unknown = await handle.result();
  const { searchAttributes } = await handle.describe();
  return { result, attention: searchAttributes['Attention'] };
};

test('rules 20.20: a fetch of settlements asks until the processor answers, and carries Attention once a settlement has waited for a day', async () => {
  const [order_id] = await writeOrders(world.database.db, [{}]);
  const of = (number: number, id: string): Settlement => ({
    number,
    operation: 'sale',
    idempotency_key: `k${number}`,
    order_id: id,
    transaction_id: transactionIdOf(id, 1),
    settlement_currency: 'EUR',
    settlement_amount: 100,
  });
  failures.settlements = 1;
  settled = [of(1, order_id!), of(2, '0190c000-0000-7000-8000-0000000000f2')];
  expect(await fetchSettlements('first')).toEqual({
    result: { settled: 1, waiting: 1, waiting_since: expect.any(Number) },
    attention: undefined,
  });
  expect(failures.settlements).toBeLessThan(0);
  await world.env.sleep('25 hours');
  expect(await fetchSettlements('second')).toMatchObject({
    result: { settled: 0, waiting: 1 },
    attention: ['a settlement has waited for its transaction for more than a day'],
  });
});

test('rules 9.10: a chargeback whose notification was lost is recorded when it is settled, once', async () => {
  const order = await createAnOrder(world, { card_number: CARDS.chargeback.number });
  // The processor notifies the run's stack, which does not have the order.
  await becomesDue(order);
  const chargeback = (await readLedger(order.id)).find(({ operation }) => operation === 'chargeback')!;
  expect(await moneySummaryOf(order)).toBe('500 captured');
  const { idempotency_key } = chargeback;
  const transaction_id = transactionIdOf(order.id, 1);
  const of = { operation: 'chargeback' as const, idempotency_key, order_id: order.id, transaction_id };
  settled = [{ number: 3, ...of, settlement_currency: 'EUR', settlement_amount: 500 }];
  await fetchSettlements('third');
  const recorded = '500 captured, 500 charged_back: chargeback completed';
  await until('the chargeback is recorded', async () => (await moneySummaryOf(order)) === recorded);
  settled = [{ number: 4, ...of, settlement_currency: 'EUR', settlement_amount: 500 }];
  expect((await fetchSettlements('fourth')).result).toMatchObject({ settled: 1 });
  expect(await moneySummaryOf(order)).toBe(recorded);
});
