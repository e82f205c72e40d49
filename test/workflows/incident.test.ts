import { v7 as uuidv7 } from 'uuid';
import { closeIncident, findIncident, recordDifferences } from '../../src/db/audit/incidents';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { attentionToIncident } from '../../workflows/incident';
import { incidentWorkflowId } from '../../workflows/messages';
import { MINUTE, PROJECT } from '../support/domain';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';

const receiver = setUp(startReceiver);
const secret = 'whsec_b3BlcmF0b3Igd2ViaG9vayBvZiB0aGUgdGVzdHM=';
const world = setUp(() => createWorkflowEnvironment({ services: { operator_webhook: { url: receiver.url, secret } } }));

test.each([
  [{}, 'the record and the processor differ: status'],
  [{ is_closed: true }, undefined],
  [{ is_closed: true, has_failed_event: true }, "the operator's webhook failed 10 times"],
])('Attention of an incident: %j', (over, text) => {
  const progress = {
    kind: 'status',
    is_closed: false,
    has_failed_event: false,
    description: '',
    clock_offset_ms: 0,
  } as const;
  expect(attentionToIncident({ ...progress, ...over })).toBe(text);
});

test('rules 26.5 and 26.7: it has Attention until it is closed, and tries each event ten times, two minutes apart', async () => {
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
