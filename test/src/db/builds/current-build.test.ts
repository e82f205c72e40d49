import {
  claimCurrentBuild,
  findCurrentBuild,
  setCurrentVersion,
  type Build,
} from '../../../../src/db/builds/current-build';
import { KeptLease, releaseLease, renewLease, takeLease } from '../../../../src/db/lease';
import { createTestDatabase } from '../../../support/database';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

const HOUR = 60 * 60_000;
/** Of a lease. */
const LASTS_MS = 5 * 60_000;
const NOW = Date.parse('2026-01-01T00:00:00Z');
const build = (name: string, built_at: number, version = 'v1'): Build => ({ build: name, version, built_at });
const [A, B] = [build('a', NOW), build('b', NOW + HOUR)];

const claim = (one: Build, any_version = true) => claimCurrentBuild(database.db, one, { any_version });
const current = async () => (await findCurrentBuild(database.db))?.build;
const take = ({ build: name }: Build, lease = 'work') =>
  takeLease(database.db, { name: lease, holder: name, lasts_ms: LASTS_MS, build: name });
/** As if the current build had been away for so long. Minutes. */
const away = (minutes: number) =>
  database.db.raw(`update current_build set seen_at = clock_timestamp() - make_interval(mins => ?)`, [minutes]);

beforeEach(() => database.db.raw('truncate current_build, leases'));

test('rules 24.20: the newest build is the current one', async () => {
  expect([await current(), await claim(A), await claim(B), await claim(A), await claim(B)]).toEqual([
    undefined,
    true,
    true,
    false,
    true,
  ]);
  expect(await current()).toBe('b');
});

test('rules 24.20: an older build gets no lease, and loses the one it has when a newer one is current', async () => {
  await claim(A);
  expect([typeof (await take(A)), await take(B)]).toEqual(['number', undefined]);
  await claim(B);
  const renew = () => renewLease(database.db, { name: 'work', holder: 'a', lasts_ms: LASTS_MS, build: 'a' });
  expect([await renew(), await take(B)]).toEqual([undefined, undefined]);
  await releaseLease(database.db, { name: 'work', holder: 'a' });
  expect([await take(A), typeof (await take(B))]).toEqual([undefined, 'number']);
});

test('rules 24.20: a kept lease waits while another build is current', async () => {
  await claim(B);
  const options = { name: 'kept', lasts_ms: HOUR, every_ms: HOUR };
  const [older, newer] = [A, B].map((one) => new KeptLease(database.db, { ...options, build: one.build }));
  expect([await older!.databaseTime(), typeof (await newer!.databaseTime())]).toEqual([undefined, 'number']);
  await newer!.stop();
  expect([await older!.databaseTime(), older!.holder]).toEqual([undefined, undefined]);
  await older!.stop();
});

test('rules 24.20: an older build goes on when the newer one has held no lease for ten minutes', async () => {
  await claim(B);
  await take(B);
  await away(60);
  // Its lease has not ended.
  expect(await claim(A)).toBe(false);
  await releaseLease(database.db, { name: 'work', holder: 'b' });
  expect(await claim(A)).toBe(false);
  await away(9);
  expect(await claim(A)).toBe(false);
  await away(11);
  expect([await claim(A), await current()]).toEqual([true, 'a']);
});

test('rules 24.20: an older build goes on although the newer one held a lease while the clock was ahead', async () => {
  await claim(B);
  await take(B);
  await away(-24 * 60);
  await database.db.raw(`update leases set expires_at = clock_timestamp() + interval '1 day'`);
  expect([await claim(A), await current()]).toEqual([true, 'a']);
});

test('rules 24.21: with versions an operator chooses the version, and its newest build is current', async () => {
  const other = build('c', NOW + 2 * HOUR, 'v2');
  await claim(A, false);
  expect([await claim(other, false), await claim(B, false), await current()]).toEqual([false, true, 'b']);
  await setCurrentVersion(database.db, 'v2');
  expect([await current(), await claim(B, false), await take(B)]).toEqual([null, false, undefined]);
  expect([await claim(other, false), await current(), typeof (await take(other))]).toEqual([true, 'c', 'number']);
  // Back, to a build that is older.
  await setCurrentVersion(database.db, 'v1', A);
  expect([await current(), await claim(other, false), await claim(A, false)]).toEqual(['a', false, true]);
});

test('rules 24.21: to choose the version that is current changes nothing', async () => {
  await claim(A);
  await setCurrentVersion(database.db, 'v1');
  expect(await current()).toBe('a');
});
