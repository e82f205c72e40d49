import { createBulkReads, partLimits, type BulkReads, type TakePlace } from '../../../api/large-answers/bulk-reads';
import type { MerchantContext, MerchantServices } from '../../../api/merchant';
import { createOperations } from '../../../api/operations';
import { findProject } from '../../../src/db/projects/projects';
import { queryRows } from '../../../src/db/query';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { aStoredOrder, aWebhookRecovery } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { serveTestApi, type TestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const database = setUp(() => createTestDatabase());

const never = new AbortController().signal;

/** Work that ends when it is told to, and notes that it has begun. */
function aWork() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let has_begun = false;
  void begun.then(() => (has_begun = true));
  return {
    run: async () => {
      begin();
      await ended;
    },
    begun,
    end,
    hasBegun: () => has_begun,
  };
}

test('rules 20.22: a project reads one thing at a time, and another beside it', async () => {
  const { read } = createBulkReads(database.db, 2);
  const [first, second, other] = [aWork(), aWork(), aWork()];
  const reads = [read('a', first.run), read('a', second.run), read('b', other.run)];
  await Promise.all([first.begun, other.begun]);
  expect(second.hasBegun()).toBe(false);
  first.end();
  await second.begun;
  second.end();
  other.end();
  await Promise.all(reads);
});

test('rules 20.22: its statements have a time limit of their own, which ends with the read', async () => {
  const { read } = createBulkReads(database.db, 1);
  const limit = async (db: TestDatabase['db']) =>
    (await queryRows<{ statement_timeout: string }>(db, 'show statement_timeout'))[0]!.statement_timeout;
  expect([await read('a', limit), await limit(database.db)]).toEqual(['5s', '8s']);
  await expect(read('a', (trx) => trx.raw('delete from orders'))).rejects.toThrow('read-only');
});

test('rules 18.5: a read that waits for its turn is not made once its deadline has passed, or its client has left', async () => {
  const { read } = createBulkReads(database.db, 1);
  const [first, second, third] = [aWork(), aWork(), aWork()];
  third.end();
  const reading = read('a', first.run);
  await first.begun;
  const leaving = new AbortController();
  const waiting = read('a', second.run, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  first.end();
  await reading;
  await read('a', third.run);
  expect(second.hasBegun()).toBe(false);
});

test('rules 18.5: a read that is being made keeps its place after its deadline, but nobody waits for it', async () => {
  const { read } = createBulkReads(database.db, 1);
  const [first, second] = [aWork(), aWork()];
  const late = new AbortController();
  const reading = read('a', first.run, late.signal);
  await first.begun;
  late.abort(new Error('late'));
  await expect(reading).rejects.toThrow('late');
  const next = read('a', second.run);
  // A read that has its turn begins sooner.
  await queryRows(database.db, 'select pg_sleep(0.2)');
  expect(second.hasBegun()).toBe(false);
  first.end();
  second.end();
  await next;
});

test('rules 18.5: every answer that is read whole gives up with its request', async () => {
  const { db } = database;
  const { id: order_id } = await aStoredOrder(db);
  const recovery_id = await aWebhookRecovery(db);
  const search = { orders: async () => ({ order_ids: [order_id], hits: 1, places: [] }) };
  const operations = createOperations({ db, search, bulk: createBulkReads(db, 1) } as unknown as MerchantServices);
  const caller = { project: (await findProject(db, PROJECT.id))! };
  const context = { caller, request: {}, signal: AbortSignal.abort(new Error('left')) } as MerchantContext;
  const page = { limit: 1 };
  for (const read of [
    () => operations.getTotals(context, { query: {} }),
    () => operations.listRequests(context, { query: page }),
    () => operations.listOrderRequests(context, { params: { order_id }, query: page }),
    () => operations.getTimeline(context, { params: { order_id }, query: page }),
    () => operations.getWebhookRecovery(context, { params: { recovery_id } }),
    () => operations.listWebhookRecoveries(context, { query: page }),
    () => operations.searchOrders(context, { query: {}, body: { query: '*' } }),
  ]) {
    await expect(read()).rejects.toThrow('left');
  }
});

describe('rules 18.5: an answer that is sent while it is read gives up with its request before its first part', () => {
  let blocking: ReturnType<typeof aWork>;
  let bulk: BulkReads;
  let api: TestApi;
  beforeEach(async () => {
    blocking = aWork();
    bulk = createBulkReads(database.db, 1);
    void bulk.read('blocking', blocking.run);
    await blocking.begun;
  });
  afterEach(async () => {
    blocking.end();
    await api.close();
  });

  /** Starts the API with these reads. Returns how many answers have a place. */
  async function startApi(API_DEADLINE_MS: number): Promise<() => number> {
    let taken = 0;
    const counted =
      (placesOf: (project_id: string) => TakePlace) =>
      (project_id: string): TakePlace =>
      async (signal) => {
        const release = await placesOf(project_id)(signal);
        taken += 1;
        return () => {
          taken -= 1;
          release();
        };
      };
    const counting = { ...bulk, stream: counted(bulk.stream), report: counted(bulk.report) };
    const operations = createOperations({ bulk: counting } as unknown as MerchantServices);
    api = await serveTestApi({ config: { API_DEADLINE_MS }, operations });
    return () => taken;
  }
  /** The reads of orders that still waited for their turn. */
  async function readsMade() {
    database.forget();
    blocking.end();
    await bulk.read('last', () => Promise.resolve());
    return database.statements.filter((sql) => sql.includes('orders'));
  }
  const answers: [string, string, RequestInit][] = [
    ['list', '/v1/orders/', {}],
    [
      'report',
      '/v1/search/orders/?format=csv',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"*"}' },
    ],
  ];

  test.each(answers)('%s: 429 at the deadline', async (_title, path, init) => {
    const taken = await startApi(200);
    const { status, headers } = await api.send(path, { ...init, signal: AbortSignal.timeout(5_000) });
    expect([status, headers.get('retry-after'), taken()]).toEqual([429, '1', 0]);
    expect(await readsMade()).toEqual([]);
  });

  test.each(answers)(
    '%s: once the client has left its place is free, and nothing is read',
    async (_title, path, init) => {
      const taken = await startApi(60_000);
      const leaving = new AbortController();
      const answer = api.send(path, { ...init, signal: leaving.signal });
      await until('it has its place', () => taken() === 1);
      leaving.abort();
      await expect(answer).rejects.toThrow('aborted');
      expect(await until('its place is free', () => taken() === 0, 5_000)).toBe(true);
      expect(await readsMade()).toEqual([]);
    },
  );
});

test('rules 18.8: of a project four answers are sent while they are read, of others more; a report is one of them', async () => {
  const bulk = createBulkReads(database.db, 1);
  const places = await Promise.all([1, 2, 3].map(() => bulk.stream('a')(never)));
  places.push(await bulk.report('a')(never));
  const impatient = AbortSignal.abort(new Error('gone'));
  await expect(bulk.stream('a')(impatient)).rejects.toThrow('gone');
  let fifth = false;
  const waiting = bulk
    .stream('a')(never)
    .then((release) => {
      fifth = true;
      release();
    });
  (await bulk.report('b')(never))();
  expect(fifth).toBe(false);
  places[0]!();
  await waiting;
});

test('rules 18.8: a report that finds no place among the answers leaves the place of a report to the next', async () => {
  const bulk = createBulkReads(database.db, 1);
  const places = await Promise.all([1, 2, 3, 4].map(() => bulk.stream('a')(never)));
  const leaving = new AbortController();
  const report = bulk.report('a')(leaving.signal);
  await new Promise(setImmediate);
  leaving.abort(new Error('left'));
  await expect(report).rejects.toThrow('left');
  places[0]!();
  (await bulk.report('a')(never))();
});

test('after a part of which nothing is in the record, the next part is not empty', () => {
  expect(partLimits({ asked: 50, came: 0 }).rows).toBe(1);
});
