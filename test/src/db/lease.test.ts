import { setTimeout as sleep } from 'node:timers/promises';
import { KeptLease, releaseLease, renewLease, takeLease } from '../../../src/db/lease';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const database = setUp(() => createTestDatabase());

const HOUR = 60 * 60_000;
const take = (holder: string, name = 'work', lasts_ms = HOUR) => takeLease(database.db, { name, holder, lasts_ms });

test('one holder at a time, who may renew it, until it is released', async () => {
  expect(Math.abs((await take('a'))! - Date.now())).toBeLessThan(HOUR);
  expect([await take('b'), typeof (await take('a')), await take('b')]).toEqual([undefined, 'number', undefined]);
  await releaseLease(database.db, { name: 'work', holder: 'b' });
  expect(await take('b')).toBeUndefined();
  await releaseLease(database.db, { name: 'work', holder: 'a' });
  expect(await take('b')).toBeDefined();
});

test('of many at once one gets it; each name is a lease of its own', async () => {
  const taken = await Promise.all(Array.from({ length: 10 }, (_, n) => take(`holder ${n}`, 'race')));
  expect(taken.filter((now) => now !== undefined)).toHaveLength(1);
});

test('one that has expired is anybody’s', async () => {
  await take('a', 'short', -1);
  expect(await take('b', 'short')).toBeDefined();
});

test('one that ends later than it can is anybody’s: the clock of the database went back', async () => {
  await take('a', 'ahead');
  await database
    .db('leases')
    .where({ name: 'ahead' })
    .update({ expires_at: database.db.raw(`expires_at + interval '1 minute'`) });
  expect([await take('b', 'ahead'), await take('a', 'ahead')]).toEqual([expect.any(Number), undefined]);
});

test('one is renewed, also after its time, until another has taken it', async () => {
  const renew = (holder: string) => renewLease(database.db, { name: 'renewed', holder, lasts_ms: HOUR });
  expect(await renew('a')).toBeUndefined();
  await take('a', 'renewed', -1);
  expect([await renew('a'), await take('b', 'renewed')]).toEqual([expect.any(Number), undefined]);
  await take('a', 'renewed', -1);
  expect([typeof (await take('b', 'renewed')), await renew('a')]).toEqual(['number', undefined]);
});

test('a kept lease has the time of the database, and a new holder each time it is taken', async () => {
  const options = { name: 'kept', lasts_ms: HOUR, every_ms: HOUR };
  const [lease, other] = [new KeptLease(database.db, options), new KeptLease(database.db, options)];
  // Two tries at once take it once.
  const [now, again] = await Promise.all([lease.databaseTime(), lease.databaseTime()]);
  expect([Math.abs(now! - Date.now()) < HOUR, typeof again]).toEqual([true, 'number']);
  expect([await other.databaseTime(), other.holder]).toEqual([undefined, undefined]);
  const holder = lease.holder!;
  expect(await lease.isStillOf(holder)).toBe(true);
  await lease.stop();
  expect([await lease.isStillOf(holder), typeof (await other.databaseTime())]).toEqual([false, 'number']);
  expect(other.holder).not.toBe(holder);
  await other.stop();
});

test('a kept lease that was not renewed for its time is asked for again', async () => {
  const lease = new KeptLease(database.db, { name: 'late', lasts_ms: 1, every_ms: HOUR });
  const holder = async () => (await database.db('leases').where({ name: 'late' }))[0].holder as string;
  await lease.databaseTime();
  await sleep(2);
  expect(lease.holder).toBeUndefined();
  const before = await holder();
  await until('another has taken it', async () => (await take('another', 'late', 1)) !== undefined);
  expect(await holder()).toBe('another');
  // Its own lease lasts a millisecond too, and may end before databaseTime() answers.
  await until('it has the lease again', async () => {
    await lease.databaseTime();
    return (await holder()) !== 'another';
  });
  expect(await holder()).not.toBe(before);
  await lease.stop();
});

test('a kept lease that another has taken is lost, also while the database does not answer who has it', async () => {
  const { db } = database;
  let answers = true;
  const raw = (sql: string, bindings: never) =>
    answers || sql.startsWith('update') ? db.raw(sql, bindings) : Promise.reject(new Error('Connection terminated'));
  const failing = new Proxy(db, { get: (target, key) => (key === 'raw' ? raw : Reflect.get(target, key)) });
  const lease = new KeptLease(failing, { name: 'lost', lasts_ms: HOUR, every_ms: 1 });
  lease.start();
  await until('it is taken', async () => lease.holder !== undefined);
  answers = false;
  await db('leases').where({ name: 'lost' }).update({ holder: 'another' });
  await until('it is lost', async () => lease.holder === undefined);
  await lease.stop();
});

test('a kept lease that is stopped while it is asked for: it is released last, and not taken again', async () => {
  const options = { name: 'stopped', lasts_ms: HOUR, every_ms: HOUR };
  const [lease, other] = [new KeptLease(database.db, options), new KeptLease(database.db, options)];
  let statements_after_stop = 0;
  const asked = Promise.all(Array.from({ length: 5 }, () => lease.databaseTime()));
  await lease.stop();
  const count = () => void (statements_after_stop += 1);
  database.db.on('query', count);
  await asked;
  database.db.off('query', count);
  expect([statements_after_stop, await lease.databaseTime(), lease.holder]).toEqual([0, undefined, undefined]);
  expect(await other.databaseTime()).toEqual(expect.any(Number));
  await other.stop();
});
