import { v7 as uuidv7 } from 'uuid';
import type { IncidentAnswer } from '../../../../src/contract/manage/incident';
import { closeIncident, recordDifferences } from '../../../../src/db/audit/incidents';
import type { Difference } from '../../../../src/domain/incident';
import { untilLocked } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { aManageHost } from '../../../support/manage';
import { setUp } from '../../../support/set-up';

const host = setUp(aManageHost);
let token: string;
beforeAll(async () => {
  token = await host.aToken('operator');
});

const differenceOf = (over: Partial<Difference> = {}): Difference => {
  const transaction_id = uuidv7();
  return {
    kind: 'status',
    object_id: transaction_id,
    project_id: PROJECT.id,
    order_id: uuidv7(),
    transaction_id,
    currency: 'EUR',
    record_amount: 0,
    processor_amount: 100,
    description: 'A difference.',
    ...over,
  };
};
const record = (difference: Difference) => recordDifferences(host.database.db, [difference], Date.now());
const list = async (query: string) =>
  (await host.send<{ items: IncidentAnswer[] }>('GET', `/v1/incidents/?${query}`, { token })).body.items;
const close = (id: string, reason = 'Known to the bank, ticket 42') =>
  host.send<{ error: { type: string } } & IncidentAnswer>('POST', `/v1/incidents/${id}/close/`, {
    token,
    body: { reason },
  });

test('rules 26.5: one incident is open for each kind and object; a later run brings it up to date', async () => {
  const difference = differenceOf();
  const [id] = await record(difference);
  expect(await record(difference)).toEqual([]);
  expect(await record({ ...difference, processor_amount: 200 })).toEqual([]);
  const { body } = await host.send<IncidentAnswer>('GET', `/v1/incidents/${id}/`, { token });
  expect(body).toMatchObject({ id, kind: 'status', status: 'open', record_amount: 0, processor_amount: 200 });
  expect(Date.parse(body.last_seen)).toBeGreaterThanOrEqual(Date.parse(body.opened));
  expect(await record({ ...difference, kind: 'amount' })).toHaveLength(1);
});

test('rules 26.8: they are found by status, kind and project, newest first, in pages, by operators alone', async () => {
  const [open] = await record(differenceOf({ kind: 'settlement' }));
  const [closed] = await record(differenceOf({ kind: 'settlement' }));
  await close(closed!);
  expect((await list('kind=settlement')).map(({ id }) => id)).toEqual([closed, open]);
  expect((await list('kind=settlement&status=open')).map(({ id }) => id)).toEqual([open]);
  expect((await list('kind=settlement&status=closed')).map(({ id }) => id)).toEqual([closed]);
  expect(await list(`project_id=${uuidv7()}`)).toEqual([]);
  const merchant = await host.aToken('merchant', PROJECT.merchant_id);
  expect((await host.send('GET', '/v1/incidents/', { token: merchant })).status).toBe(403);
  const { body } = await host.send<{ next: string }>('GET', '/v1/incidents/?kind=settlement&limit=1', { token });
  expect((await list(`kind=settlement&limit=1&cursor=${body.next}`)).map(({ id }) => id)).toEqual([open]);
});

test('rules 26.6: an operator closes it with a reason, once; the same amounts do not open it again, others do', async () => {
  const difference = differenceOf({ kind: 'amount' });
  const [id] = await record(difference);
  expect((await close(id!, ' ')).status).toBe(400);
  expect(await close(id!)).toMatchObject({
    status: 200,
    body: { status: 'closed', closed_by: 'operator', reason: 'Known to the bank, ticket 42' },
  });
  const again = await close(id!);
  expect([again.status, again.body.error.type]).toEqual([409, 'Conflict']);
  const trail = await host.send<{ items: object[] }>('GET', `/v1/audit-trail/?object=${id}`, { token });
  expect(trail.body.items).toMatchObject([
    { action: 'incident.close', before: { status: 'open' }, after: { status: 'closed' } },
  ]);
  expect(await record(difference)).toEqual([]);
  const [later] = await record({ ...difference, processor_amount: 101 });
  expect(later).toBeDefined();
  // An open one has the amounts of now.
  expect(await record(difference)).toEqual([]);
  const { body } = await host.send<IncidentAnswer>('GET', `/v1/incidents/${later}/`, { token });
  expect(body).toMatchObject({ status: 'open', processor_amount: difference.processor_amount });
  expect((await close(uuidv7())).status).toBe(404);
});

test('rules 26.6: nor do the same amounts open it again when the audit finds them while the operator closes it', async () => {
  const difference = differenceOf();
  const [id] = await record(difference);
  const { db } = host.database;
  const closing = await db.transaction();
  await closeIncident(closing, id!, { closed_by: 'operator', reason: 'Known to the bank', now: Date.now() });
  const found = record(difference);
  await untilLocked('the audit waits for the operator', db);
  await closing.commit();
  expect(await found).toEqual([]);
  expect(await list(`project_id=${PROJECT.id}&status=open&kind=status`)).not.toContainEqual(
    expect.objectContaining({ transaction_id: difference.transaction_id }),
  );
});
