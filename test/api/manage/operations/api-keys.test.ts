import { findProjectByApiKey } from '../../../../src/db/projects/api-keys';
import { secrets } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { aManageHost } from '../../../support/manage';
import { setUp } from '../../../support/set-up';

const HOUR_MS = 3_600_000;
const host = setUp(aManageHost);
let token: string;
beforeAll(async () => {
  token = await host.aToken('operator');
});

interface Key {
  id: string;
  prefix: string;
  key: string;
  expires?: string;
  last_used?: string;
}

const keysPath = `/v1/projects/${PROJECT.id}/api-keys/`;
const aKey = async () => (await host.send<Key>('POST', keysPath, { token })).body;
const roll = (id: string, body?: object) => host.send<Key>('POST', `/v1/api-keys/${id}/roll/`, { token, body });
const works = async (key: string, at = Date.now()) =>
  (await findProjectByApiKey({ db: host.database.db, secrets }, key, at)) !== undefined;
const listed = async () => (await host.send<{ items: Key[] }>('GET', `${keysPath}?limit=100`, { token })).body.items;

test('rules 21.11: a key is shown once, and listed by its prefix', async () => {
  const made = await aKey();
  expect(made.key.startsWith(made.prefix)).toBe(true);
  expect(made.key.length).toBeGreaterThan(made.prefix.length + 30);
  const found = (await listed()).find(({ id }) => id === made.id);
  expect(found).toEqual({
    id: made.id,
    project_id: PROJECT.id,
    prefix: made.prefix,
    created: expect.any(String) as unknown,
  });
  expect(await works(made.key)).toBe(true);
  const { db } = host.database;
  expect(JSON.stringify([await db('api_keys'), await db('audit_trail')])).not.toContain(made.key.slice(-40));
});

test('rules 21.12: a rolled key works for the overlap and not a second longer; the new one goes on', async () => {
  const old = await aKey();
  const { status, body: made } = await roll(old.id, { overlap: 'PT1H' });
  expect(status).toBe(201);
  const { expires } = (await listed()).find(({ id }) => id === old.id)!;
  const end = Date.parse(expires!);
  expect(Math.abs(end - Date.now() - HOUR_MS)).toBeLessThan(60_000);
  expect([await works(old.key, end - 1), await works(old.key, end)]).toEqual([true, false]);
  expect(await works(made.key, end)).toBe(true);
});

test.each<[title: string, body: object | undefined, ms: number]>([
  ['no body', undefined, 24 * HOUR_MS],
  ['no overlap', {}, 24 * HOUR_MS],
  ['30 days', { overlap: 'P30D' }, 30 * 24 * HOUR_MS],
])('the overlap with %s', async (_title, body, ms) => {
  const old = await aKey();
  await roll(old.id, body);
  const { expires } = (await listed()).find(({ id }) => id === old.id)!;
  expect(Math.abs(Date.parse(expires!) - Date.now() - ms)).toBeLessThan(60_000);
});

test('an overlap of nothing ends the old key at once', async () => {
  const old = await aKey();
  await roll(old.id, { overlap: 'PT0S' });
  expect(await works(old.key)).toBe(false);
  expect((await listed()).map(({ id }) => id)).not.toContain(old.id);
});

test.each(['P31D', 'P1M', '24h', 'PT0.5S'])(
  'an overlap of %s is refused, and the key stays as it is',
  async (overlap) => {
    const old = await aKey();
    const { status, body } = await roll(old.id, { overlap });
    expect([status, body]).toMatchObject([400, { error: { type: 'ValidationError', property_path: 'overlap' } }]);
    expect(await works(old.key, Date.now() + 60 * 24 * HOUR_MS)).toBe(true);
  },
);

test('rules 21.12: the second time: a rolled key cannot be rolled again, a revoked one does not exist', async () => {
  const old = await aKey();
  await roll(old.id);
  expect((await roll(old.id)).status).toBe(409);
  const revoke = () => host.send('DELETE', `/v1/api-keys/${old.id}/`, { token });
  expect([(await revoke()).status, (await revoke()).status]).toEqual([204, 404]);
  expect((await roll(old.id)).status).toBe(404);
  expect(await works(old.key)).toBe(false);
});

test('rules 11.10: with an Idempotency-Key one key is made, and the repeat is a Conflict that names it', async () => {
  const before = (await listed()).length;
  const headers = { 'idempotency-key': 'one-key' };
  const first = await host.send<Key>('POST', keysPath, { token, headers });
  const again = await host.send<{ error: { value: string } }>('POST', keysPath, { token, headers });
  expect([first.status, again.status]).toEqual([201, 409]);
  expect(again.body.error.value).toContain(first.body.id);
  expect((await listed()).length).toBe(before + 1);
  const { db } = host.database;
  expect(JSON.stringify(await db('idempotency_keys'))).not.toContain(first.body.key);
});

test('rules 21.11: the day of the last use is written once a day', async () => {
  const { key, id } = await aKey();
  const day = Date.parse('2031-05-06T10:00:00Z');
  const writes = () => host.database.statements.filter((sql) => sql.includes('set last_used')).length;
  host.database.forget();
  for (const at of [day, day + HOUR_MS, day + 2 * HOUR_MS]) await works(key, at);
  expect(writes()).toBe(1);
  expect((await listed()).find((one) => one.id === id)?.last_used).toBe('2031-05-06');
  await works(key, day + 24 * HOUR_MS);
  expect(writes()).toBe(2);
});

describe('rules 21.17: at most 20 keys of a project work', () => {
  const LIMIT = 20;
  let path: string;
  beforeEach(async () => {
    const { merchant_id } = PROJECT;
    const body = { name: 'Many keys', is_test: true };
    const project = await host.send<{ id: string }>('POST', `/v1/merchants/${merchant_id}/projects/`, { token, body });
    path = `/v1/projects/${project.body.id}/api-keys/`;
  });
  const make = () => host.send<Key & { error: { type: string; value: string } }>('POST', path, { token });
  const working = async () => (await host.send<{ items: Key[] }>('GET', `${path}?limit=100`, { token })).body.items;

  it('however many are made at once; one more when one is revoked', async () => {
    const statuses = (await Promise.all(Array.from({ length: LIMIT + 5 }, make))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
    const [key, ...others] = await working();
    expect(others).toHaveLength(LIMIT - 1);
    const refused = await make();
    expect([refused.status, refused.body.error.type]).toEqual([409, 'Conflict']);
    await host.send('DELETE', `/v1/api-keys/${key!.id}/`, { token });
    expect((await make()).status).toBe(201);
  });

  it('a key that was rolled counts until its overlap ends, so with 20 a roll has none', async () => {
    type Answer = Awaited<ReturnType<typeof make>>;
    let key: Key = (await make()).body;
    for (let n = 1; n < LIMIT; n += 1) key = (await roll(key.id, { overlap: 'P30D' })).body;
    const refused = (await roll(key.id)) as Answer;
    expect([refused.status, refused.body.error.type]).toEqual([409, 'Conflict']);
    expect(await works(key.key)).toBe(true);
    expect((await roll(key.id, { overlap: 'PT0S' })).status).toBe(201);
    expect(await working()).toHaveLength(LIMIT);
  });
});
