import { CHANGELOG } from '../../../../src/contract/manage/changelog';
import type { AttentionAnswer, AuditEntry } from '../../../../src/contract/manage/history';
import { recordAttention } from '../../../../src/db/recovery/attentions';
import { recordChange } from '../../../../src/db/projects/audit-trail';
import { PROJECT } from '../../../support/domain';
import { aManageHost, type ClientCredentials } from '../../../support/manage';
import { setUp } from '../../../support/set-up';

const host = setUp(aManageHost);
let token: string;
beforeAll(async () => {
  token = await host.aToken('operator');
});

const entries = async (query: string) =>
  (await host.send<{ items: AuditEntry[] }>('GET', `/v1/audit-trail/?${query}`, { token })).body.items;
const project = `/v1/projects/${PROJECT.id}/`;

test('rules 21.14: an entry has the actor, the object before and after, the time and the request', async () => {
  const { headers } = await host.send('PUT', project, { token, body: { name: 'Renamed' } });
  const [entry] = await entries(`object=${PROJECT.id}`);
  expect(entry).toMatchObject({
    actor: { kind: 'client', id: expect.any(String) as unknown },
    action: 'project.update',
    object: { kind: 'project', id: PROJECT.id },
    before: { name: 'Test project' },
    after: { name: 'Renamed' },
    request_id: headers.get('x-request-id'),
  });
});

test('it is found by actor, object, kind and time', async () => {
  await host.send('PUT', project, { token, body: { status: 'suspended' } });
  const [entry] = await entries(`object=${PROJECT.id}`);
  const { actor, at } = entry!;
  const since = `since=${encodeURIComponent(at)}`;
  const since_long = `since=${encodeURIComponent(at.replace('+', `${'9'.repeat(200)}+`))}`;
  for (const query of [`actor=${actor.id}`, 'actor=client', 'object=project', since, since_long]) {
    expect([query, (await entries(query)).map(({ id }) => id)]).toEqual([
      query,
      expect.arrayContaining([entry!.id]) as unknown,
    ]);
  }
  for (const query of ['actor=command_line', 'object=merchant', 'since=2100-01-01T00:00:00Z']) {
    expect([query, (await entries(query)).map(({ id }) => id)]).toEqual([query, []]);
  }
});

test('rules 21.19: merchants read “operator” where an operator made a change, and find no operator by its id', async () => {
  const mine = await host.aClient('merchant', PROJECT.merchant_id);
  const theirs = await host.aClient('operator');
  const tokenOf = async (client: ClientCredentials) =>
    String((await host.askToken({ ...client })).body['access_token']);
  const [merchant, operator] = [await tokenOf(mine), await tokenOf(theirs)];
  await host.send('PUT', project, { token: operator, body: { name: 'By an operator' } });
  await host.send('PUT', project, { token: merchant, body: { name: 'By the merchant' } });
  const change = { action: 'project.update', object: { kind: 'project', id: PROJECT.id } };
  for (const kind of ['command_line', 'temporal'] as const) {
    const by = { actor: { kind, id: 'operator-of-that-name' } };
    await host.database.db.transaction((trx) =>
      recordChange(trx, { ...change, merchant_id: PROJECT.merchant_id }, by, new Date()),
    );
  }
  const actors = async (token: string, query = '') => {
    const path = `/v1/audit-trail/?object=${PROJECT.id}&limit=4${query}`;
    return (await host.send<{ items: AuditEntry[] }>('GET', path, { token })).body.items.map(({ actor }) => actor);
  };
  expect(await actors(operator)).toEqual([
    { kind: 'temporal', id: 'operator-of-that-name' },
    { kind: 'command_line', id: 'operator-of-that-name' },
    { kind: 'client', id: mine.client_id },
    { kind: 'client', id: theirs.client_id },
  ]);
  expect(await actors(merchant)).toEqual([
    { kind: 'temporal', id: 'operator' },
    { kind: 'command_line', id: 'operator' },
    { kind: 'client', id: mine.client_id },
    { kind: 'client', id: 'operator' },
  ]);
  expect(await actors(merchant, `&actor=${theirs.client_id}`)).toEqual([]);
  expect(await actors(merchant, '&actor=operator-of-that-name')).toEqual([]);
  expect(await actors(merchant, '&actor=operator')).toContainEqual({ kind: 'client', id: 'operator' });
  expect(await actors(operator, `&actor=${theirs.client_id}`)).toHaveLength(1);
});

test('refused changes are not in it', async () => {
  const before = await entries('limit=100');
  await host.send('PUT', project, { token, body: { name: '' } });
  await host.send('DELETE', '/v1/api-keys/000000000000/', { token });
  expect(await entries('limit=100')).toEqual(before);
});

test('rules 21.14: the database refuses to change or delete an entry', async () => {
  const { db } = host.database;
  await expect(db('audit_trail').update({ action: 'nothing' })).rejects.toThrow('append-only');
  await expect(db('audit_trail').delete()).rejects.toThrow('append-only');
  await expect(db.raw('truncate audit_trail')).rejects.toThrow('append-only');
});

test('rules 21.14: a change whose entry cannot be written is not made', async () => {
  const { db } = host.database;
  await db.raw(`alter table audit_trail add constraint refuse check (action <> 'merchant.create') not valid`);
  const body = { name: 'Unrecorded', country: 'NL', default_currency: 'EUR' };
  expect((await host.send('POST', '/v1/merchants/', { token, body })).status).toBe(500);
  expect(await db('merchants').where({ name: 'Unrecorded' })).toEqual([]);
  await db.raw('alter table audit_trail drop constraint refuse');
});

test('rules 21.15: the changelog answers its entries without what the tests compare', async () => {
  const { body } = await host.send('GET', '/v1/changelog/', { token });
  expect(body['items']).toEqual(CHANGELOG.map(({ version, date, text }) => ({ version, date, text })));
});

test('rules 24.19: operators list what needs them, merchants may not', async () => {
  const { db } = host.database;
  await recordAttention(db, { kind: 'workflow', id: 'order:1' }, 'gone');
  await recordAttention(db, { kind: 'workflow', id: 'order:1' }, undefined);
  await recordAttention(db, { kind: 'order', id: PROJECT.id, project_id: PROJECT.id }, 'look here');
  const list = async (query: string, as = token) =>
    await host.send<{ items: AttentionAnswer[] }>('GET', `/v1/attentions/${query}`, { token: as });
  const open = (await list('')).body.items;
  expect(open).toEqual([
    {
      id: expect.any(String) as string,
      object: { kind: 'order', id: PROJECT.id },
      project_id: PROJECT.id,
      reason: 'look here',
      since: expect.any(String) as string,
    },
  ]);
  const all = (await list('?status=all')).body.items;
  expect(all).toHaveLength(2);
  expect(all[1]).toMatchObject({ object: { kind: 'workflow', id: 'order:1' }, until: expect.any(String) as string });
  expect((await list('?status=closed')).status).toBe(400);
  const merchant = await host.aToken('merchant', PROJECT.merchant_id);
  expect((await list('', merchant)).status).toBe(403);
});
