import { queryRows } from '../../../../src/db/query';
import { applyRetention } from '../../../../src/db/retention/retention';
import { claimKey, findKey, keepAnswer } from '../../../../src/db/requests/idempotency-keys';
import { RETAINED, RETENTION_DAYS, type Retained } from '../../../../src/domain/retention';
import { toIsoTime } from '../../../../src/time';
import { createTestDatabase } from '../../../support/database';
import { MINUTE, NOW, PROJECT } from '../../../support/domain';
import { anAcceptedPayment, aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());
const DAY = 24 * 60 * MINUTE;
const claimed = async (key: string, age_days: number, body: unknown, status = 201) => {
  const name = { owner_id: PROJECT.id, key };
  await claimKey(database.db, { ...name, request_hash: Buffer.from(key) }, NOW - age_days * DAY);
  await keepAnswer(database.db, name, { status, body, version: 3 });
  return () => findKey(database.db, name);
};

test('rules 29.1: of an answer that shows an order the body goes after 30 days; other answers and younger ones stay', async () => {
  const { id } = await aStoredOrder(database.db);
  const error = { error: { type: 'Conflict' } };
  const [old, refused, other, young] = [
    await claimed('old', 31, { id }),
    await claimed('refused', 31, error, 409),
    await claimed('other', 31, { id: PROJECT.id }),
    await claimed('young', 29, { id }),
  ];
  expect(await applyRetention(database.db, RETENTION_DAYS, NOW)).toEqual({ idempotency_answers: 1 });
  expect(await old()).toEqual({
    request_hash: Buffer.from('old'),
    claimed_at: NOW - 31 * DAY,
    answered: { status: 201, object_id: id, has_version: true },
  });
  expect((await refused())?.answer?.body).toEqual(error);
  expect((await other())?.answer?.body).toEqual({ id: PROJECT.id });
  expect((await young())?.answer?.body).toEqual({ id });
  // An answer that comes late does not bring it back.
  await keepAnswer(database.db, { owner_id: PROJECT.id, key: 'old' }, { status: 200, body: { id } });
  expect((await old())?.answer).toBeUndefined();
});

test('rules 29.1: attempts of closed webhooks go after 90 days; the webhooks stay, and attempts of open ones', async () => {
  const { id } = await anAcceptedPayment(database.db);
  await queryRows(
    database.db,
    `with d as (
       insert into webhook_deliveries (order_id, n, url, status, next_attempt_at, created)
       select :id, n, 'https://shop.example', status, case when status = 'paused' then now() end, :created
       from unnest(array[11, 12, 13], array['delivered', 'paused', 'failed']) as t (n, status) returning order_id, n
     )
     insert into webhook_attempts (order_id, n, attempt, time_limit_ms, started, duration_ms)
     select :id, n, 1, 5000, started, 1
     from unnest(array[11, 12, 13], :started::timestamptz[]) as t (n, started)`,
    { id, created: toIsoTime(NOW), started: [91, 91, 89].map((age) => toIsoTime(NOW - age * DAY)) },
  );
  expect(await applyRetention(database.db, RETENTION_DAYS, NOW)).toEqual({ webhook_attempts: 1 });
  const rows = (table: string) => database.db(table).where('n', '>=', 11).orderBy('n').pluck('n');
  expect([await rows('webhook_deliveries'), await rows('webhook_attempts')]).toEqual([
    [11, 12, 13],
    [12, 13],
  ]);
});

test('rules 29.2: the days of a variable apply in place of the default', async () => {
  const { id } = await aStoredOrder(database.db);
  const kept = await claimed('two days', 2, { id });
  await applyRetention(database.db, { ...RETENTION_DAYS, idempotency_answers: 1 }, NOW);
  expect((await kept())?.answer).toBeUndefined();
});

/** Of rows that wait for something, and of the processes themselves: few at a time. */
const UNDER_WAY = [
  ...['search_outbox', 'search_refusals', 'search_rebuild', 'search_use', 'late_approval_watches'],
  ...['announced_operations', 'open_settlements', 'settlement_progress', 'audit_progress', 'recovery_progress'],
  ...['leases', 'current_build', 'payload_key_uses', 'knex_migrations', 'knex_migrations_lock'],
];
const WITH_THEIR_MONTH = [
  ...['orders', 'transactions', 'transaction_events', 'webhook_deliveries', 'attentions', 'audit_trail'],
];
const STAY = [
  ...['merchants', 'projects', 'api_keys', 'oauth_clients', 'signing_keys', 'idempotency_keys', 'payment_links'],
  ...['sandbox_clocks', 'sandbox_clock_advances', 'webhook_recoveries', 'erasures', 'incidents', 'restores'],
];
const BY_THEIR_AGE = ['request_claims', 'logged_requests', 'receiver_checks', 'webhook_events', 'webhook_attempts'];

test('rules 29.1: of every table it is decided when its rows go', async () => {
  const tables = await queryRows<{ name: string }>(
    database.db,
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const decided = [...UNDER_WAY, ...WITH_THEIR_MONTH, ...STAY, ...BY_THEIR_AGE];
  expect(tables.map(({ name }) => name).toSorted()).toEqual(decided.toSorted());
});

test('rules 29.1: what may not go on stays for the next time; a table that fails keeps no other from being emptied', async () => {
  const { id } = await aStoredOrder(database.db);
  const old = await claimed('for the next time', 31, { id });
  const isKept = async () => (await old())?.answer !== undefined;
  expect(await applyRetention(database.db, RETENTION_DAYS, NOW, { mayGoOn: () => false })).toEqual({});
  expect(await isKept()).toBe(true);
  await database.db.raw('alter table logged_requests rename to logged_requests_away');
  const failed: string[] = [];
  try {
    await applyRetention(database.db, RETENTION_DAYS, NOW, { failed: (name) => failed.push(name) });
  } finally {
    await database.db.raw('alter table logged_requests_away rename to logged_requests');
  }
  expect([failed, await isKept()]).toEqual([['logged_requests'], false]);
});

test('rules 29.1: what failed before is removed after all others', async () => {
  const { id } = await aStoredOrder(database.db);
  const old = await claimed('what failed before', 31, { id });
  const removeOne = async (last: Retained[]) => {
    let statements = 1;
    await applyRetention(database.db, RETENTION_DAYS, NOW, { last, mayGoOn: () => statements-- > 0 });
    return (await old())?.answer === undefined;
  };
  expect(await removeOne(RETAINED)).toBe(false);
  expect(await removeOne(RETAINED.filter((name) => name !== 'idempotency_answers'))).toBe(true);
});
