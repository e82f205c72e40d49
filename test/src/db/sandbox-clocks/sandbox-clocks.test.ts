import { v7 as uuidv7 } from 'uuid';
import { upsertProject } from '../../../../src/db/projects/projects';
import {
  beginAdvance,
  finishAdvance,
  setClock,
  unfinishedAdvances,
} from '../../../../src/db/sandbox-clocks/sandbox-clocks';
import { findOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { createTestDatabase, secrets } from '../../../support/database';
import { NOW, PROJECT } from '../../../support/domain';
import { aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

const DAY = 24 * 60 * 60_000;
const clock = (clock_id: string, project_id = PROJECT.id) => ({ clock_id, project_id });
const begin = (clock_id: string, advance_ms: number, request_id: string = uuidv7()) =>
  beginAdvance(database.db, clock(clock_id), { request_id, advance: { advance_ms }, now: NOW });

test('rules 23.4: the clock of a live project cannot be advanced, whatever the code does', async () => {
  const live_id = uuidv7();
  const live = { id: live_id, name: 'Live', is_test: false, payment_methods: [], currencies: ['EUR'] };
  await upsertProject({ db: database.db, secrets }, PROJECT.merchant_id, live, new Date(NOW));
  const begin = { request_id: 'r', advance: { advance_ms: DAY }, now: NOW };
  const forbidden = { error: 'Forbidden' };
  await expect(beginAdvance(database.db, clock(uuidv7(), live_id), begin)).rejects.toMatchObject(forbidden);
  const by_hand = (is_test: boolean) =>
    database.db('sandbox_clocks').insert({ id: uuidv7(), project_id: live_id, is_test, modified: new Date(NOW) });
  await expect(by_hand(false)).rejects.toThrow(/check/);
  await expect(by_hand(true)).rejects.toThrow(/foreign key/);
});

test('rules 23.11: a clock of another project counts nowhere, and none is made for what has no clock of its own', async () => {
  const { id } = await aStoredOrder(database.db);
  const other = { id: uuidv7(), name: 'Other', is_test: true, payment_methods: [], currencies: ['EUR'] };
  await upsertProject({ db: database.db, secrets }, PROJECT.merchant_id, other, new Date(NOW));
  const begin = { request_id: 'r', advance: { advance_ms: DAY }, now: NOW };
  for (const [clock_id, project_id] of [
    [id, other.id],
    [uuidv7(), PROJECT.id],
  ] as const) {
    await expect(beginAdvance(database.db, clock(clock_id, project_id), begin)).rejects.toMatchObject({
      error: 'Forbidden',
    });
  }
  await database.db('sandbox_clocks').insert({ id, project_id: other.id, offset_ms: DAY, modified: new Date(NOW) });
  expect((await findOrderSnapshot(database.db, id))?.clock_offset_ms).toBe(0);
});

test('advances add up, each is begun once, and none goes back or beyond 400 days', async () => {
  const { id } = await aStoredOrder(database.db);
  expect(await begin(id, DAY, 'a')).toEqual({ n: 1, to_offset_ms: DAY });
  expect(await begin(id, DAY, 'a')).toEqual({ n: 1, to_offset_ms: DAY });
  await setClock(database.db, { clock_id: id, offset_ms: DAY, now: NOW });
  expect(await begin(id, 399 * DAY, 'b')).toEqual({ n: 2, to_offset_ms: 400 * DAY });
  expect(await begin(id, 399 * DAY + 1, 'c')).toBeUndefined();
  const to = (instant: number) =>
    beginAdvance(database.db, clock(id), { request_id: uuidv7(), advance: { to: instant }, now: NOW });
  expect(await to(NOW + DAY)).toBeUndefined();
  expect(await to(NOW + DAY + 1)).toMatchObject({ to_offset_ms: DAY + 1 });
});

test('rules 11.9: an advance with If-Match begins at its version only, and makes the next one; a repeat joins it', async () => {
  const { id, version } = await aStoredOrder(database.db);
  const at = (request_id: string, ...versions: number[]) =>
    beginAdvance(database.db, clock(id), { request_id, advance: { advance_ms: DAY }, versions, now: NOW });
  const versionNow = async () => (await findOrderSnapshot(database.db, id))?.version;
  expect([await at('a', version), await at('a', version)]).toEqual(Array(2).fill({ n: 1, to_offset_ms: DAY }));
  expect(await versionNow()).toBe(version + 1);
  await expect(at('b', version)).rejects.toMatchObject({ error: 'PreconditionFailed' });
  expect(await unfinishedAdvances(database.db, id)).toHaveLength(1);
  // Without If-Match, or at one of several versions.
  await begin(id, DAY);
  expect(await versionNow()).toBe(version + 1);
  expect(await at('c', version, version + 1)).toMatchObject({ n: 3 });
});

test('a clock never goes back, and its orders carry how far it is ahead', async () => {
  const { id } = await aStoredOrder(database.db);
  await begin(id, 2 * DAY);
  for (const offset_ms of [DAY, 2 * DAY, DAY]) await setClock(database.db, { clock_id: id, offset_ms, now: NOW });
  expect((await findOrderSnapshot(database.db, id))?.clock_offset_ms).toBe(2 * DAY);
  // Recovery counts from its last change.
  await setClock(database.db, { clock_id: id, offset_ms: DAY, now: NOW + DAY });
  expect(await database.db('sandbox_clocks').where({ id }).first()).toMatchObject({
    modified: expect.stringContaining('2030-01-15'),
  });
});

test('the end of an advance makes another version of the object, once', async () => {
  const { id, version } = await aStoredOrder(database.db);
  const { n } = (await begin(id, DAY))!;
  expect(await unfinishedAdvances(database.db, id)).toEqual([{ n, to_offset_ms: DAY }]);
  for (let times = 1; times <= 2; times += 1) await finishAdvance(database.db, { clock_id: id, n });
  expect(await unfinishedAdvances(database.db, id)).toEqual([]);
  expect((await findOrderSnapshot(database.db, id))?.version).toBe(version + 1);
});
