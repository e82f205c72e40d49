import { v7 as uuidv7 } from 'uuid';
import { notifyOperator, readIncident } from '../../activities/incident';
import type { ActivityServices } from '../../activities/services';
import { closeIncident, recordDifferences } from '../../src/db/audit/incidents';
import { postWebhook } from '../../src/webhook/post';
import { createTestDatabase } from '../support/database';
import { NOW, PROJECT } from '../support/domain';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';

const SECRET = 'whsec_b3BlcmF0b3Igd2ViaG9vayBvZiB0aGUgdGVzdHM=';
const database = setUp(() => createTestDatabase());
const receiver = setUp(startReceiver);
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(200).end());
});

/** What the worker has logged as errors. */
const logged: object[] = [];
const services = (url?: string) =>
  ({
    db: database.db,
    postWebhook,
    log: { error: (fields: object) => void logged.push(fields) },
    operator_webhook: url === undefined ? undefined : { url, secret: SECRET },
  }) as unknown as ActivityServices;

async function anIncident(): Promise<string> {
  const [order_id, transaction_id] = [uuidv7(), uuidv7()];
  const of = { kind: 'status', object_id: transaction_id, project_id: PROJECT.id, order_id, transaction_id } as const;
  const differs = { currency: 'EUR', record_amount: 0, processor_amount: 100, description: 'A difference.' };
  return (await recordDifferences(database.db, [{ ...of, ...differs }], NOW))[0]!;
}
const progressOf = (incident_id: string) => readIncident(services(), { incident_id });

test('rules 26.7: an event is sent once, under an id of its own, and then the other when the incident closes', async () => {
  const incident_id = await anIncident();
  const send = (event: 'opened' | 'closed', attempt = 1) =>
    notifyOperator(services(receiver.url), { incident_id, event, attempt });
  expect(await progressOf(incident_id)).toMatchObject({ is_closed: false, due_event: 'opened' });
  expect(await send('opened')).toEqual({});
  expect(await send('opened')).toEqual({});
  expect(await progressOf(incident_id)).not.toHaveProperty('due_event');
  await closeIncident(database.db, incident_id, { closed_by: 'audit', reason: 'Gone.', now: NOW });
  expect(await progressOf(incident_id)).toMatchObject({ is_closed: true, due_event: 'closed' });
  expect(await send('closed')).toEqual({});
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
    `incident:${incident_id}:opened`,
    `incident:${incident_id}:closed`,
  ]);
  expect(JSON.parse(receiver.received[0]!.body)).toEqual({
    event: 'incident_opened',
    incident_id,
    kind: 'status',
    project_id: PROJECT.id,
  });
});

test('rules 26.7: a failed attempt is repeated; after the tenth the event counts as failed', async () => {
  receiver.answer((response) => response.writeHead(500).end());
  const incident_id = await anIncident();
  const attempt = (n: number) => notifyOperator(services(receiver.url), { incident_id, event: 'opened', attempt: n });
  expect(await attempt(9)).toEqual({ failure: 'answered 500' });
  expect(await progressOf(incident_id)).toMatchObject({ due_event: 'opened', has_failed_event: false });
  expect(logged).toEqual([]);
  expect(await attempt(10)).toEqual({ failure: 'answered 500' });
  expect(await progressOf(incident_id)).toMatchObject({ has_failed_event: true });
  expect(logged).toEqual([{ incident_id, event: 'opened', failure: 'answered 500' }]);
});

test('without an address nothing is sent, and nothing stays due', async () => {
  const incident_id = await anIncident();
  expect(await notifyOperator(services(), { incident_id, event: 'opened', attempt: 1 })).toEqual({});
  expect(await progressOf(incident_id)).toMatchObject({ has_failed_event: false });
  expect(await progressOf(incident_id)).not.toHaveProperty('due_event');
});
