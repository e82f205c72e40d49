import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { checkSearchIndex, indexedOrders } from '../../../activities/search-index';
import { queryColumn, queryRows, type Database } from '../../../src/db/query';
import { claimCurrentBuild } from '../../../src/db/builds/current-build';
import {
  noteSearch,
  requestSearchRebuild,
  searchRebuild,
  waitingForSearch,
} from '../../../src/db/search/search-outbox';
import { Indexer } from '../../../src/indexer/indexer';
import { isIndexBehind } from '../../../src/bench/search-orders';
import { connectSearch } from '../../../src/search/connection';
import { INDEX, SETTINGS } from '../../../src/search/settings';
import { SearchWriter, type IndexName, type IndexedOrder } from '../../../src/search/writer';
import { writeOrders } from '../../support/rows';
import { aSearchWorld } from '../../support/search';
import { someOrders } from '../../support/search-orders';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const world = setUp(() => aSearchWorld());
/** Each test begins with nothing recorded and no index. */
beforeEach(async () => {
  for (const table of ['orders', 'search_outbox', 'search_refusals', 'search_rebuild', 'leases', 'current_build']) {
    await queryRows(world.db, `truncate ${table} cascade`);
  }
  await forgetSearches();
  await connectSearch(world.server, 'set-up').deleteIndex(INDEX).waitTask({ timeout: 60_000 });
});
afterEach(async () => {
  world.server.signal('SIGCONT');
  proceed?.();
  await world.stopIndexers();
});
/** What a test holds up goes on. */
let proceed: (() => void) | undefined;

const log = pino({ level: 'silent' });
const differences = async () => {
  const { orders, missing, different, unknown } = await checkSearchIndex({ db: world.db, index: world.writer });
  return { orders, missing, different, unknown };
};
const count = async (query: string) => (await world.search({ query })).body.hits;

/** As if nobody had searched for long: changes are gathered (rules 20.12). */
const forgetSearches = () => queryRows(world.db, `update search_use set last = '-infinity'`);

// The first test: a search that came shortly before is remembered by whoever searches.
it('rules 20.12: changes are gathered while nobody searches; the first search waits for them, and finds them', async () => {
  const batches: number[] = [];
  const counting = writerThat(world.writer, (name, orders) => {
    batches.push(orders.length);
    return world.writer.send(name, orders);
  });
  const indexer = world.anIndexer(counting);
  await world.indexed();
  await forgetSearches();
  for (const merchant_order_id of ['1', '2', '3']) {
    await writeOrders(world.db, [{ merchant_order_id }]);
    await sleep(LOOKED_MS);
  }
  expect(batches).toEqual([]);
  const began = performance.now();
  const found = await count('*');
  // On a busy machine the index may take longer than a search waits for it.
  expect(found === 3 || performance.now() - began >= 1_500).toBe(true);
  await until('all are found', async () => (await count('*')) === 3);
  expect(batches).toEqual([3]);
  // Somebody searches now.
  await writeOrders(world.db, [{ merchant_order_id: '4' }]);
  await until('it is found', async () => (await count('*')) === 4);

  // Gathered for long enough.
  await forgetSearches();
  await writeOrders(world.db, [{ merchant_order_id: '5' }]);
  await queryRows(world.db, `update search_outbox set changed = now() - interval '10 seconds'`);
  await until('it is written', async () => batches.length === 3);
  await indexer.stop();
});
/** Long enough for the indexer to look for changes. Milliseconds. */
const LOOKED_MS = 600;

it('rules 20.11 and 20.12: changes wait while Meilisearch is away, and searches say so', async () => {
  let failed = 0;
  const counting = writerThat(world.writer, (name, orders) =>
    world.writer.send(name, orders).catch((error: unknown) => {
      failed += 1;
      throw error;
    }),
  );
  world.anIndexer(counting);
  await writeOrders(world.db, [{ merchant_order_id: 'before' }]);
  await world.indexed();
  await world.server.kill();
  try {
    await writeOrders(world.db, [{ merchant_order_id: 'while' }]);
    const { status, headers, body } = await world.search({ query: '*' });
    expect([status, body.error?.type, headers.get('retry-after')]).toEqual([
      503,
      'ServerError',
      expect.stringMatching(/^\d+$/),
    ]);
    await until('the indexer has tried in vain', () => failed > 0);
  } finally {
    await world.server.start();
  }
  await world.indexed();
  expect(await count('*')).toBe(2);
});

/** Milliseconds that the work took, and by how many the timers of this process, which is the API too, were late. */
async function timed(work: () => Promise<void>): Promise<{ took: number; late: number }> {
  const [every, began] = [10, performance.now()];
  let [late, last] = [0, began];
  const note = () => {
    const now = performance.now();
    late += Math.max(0, now - last - 2 * every);
    last = now;
  };
  const noting = setInterval(note, every);
  await work().finally(() => clearInterval(noting));
  note();
  return { took: performance.now() - began, late };
}

it('rules 20.11: a Meilisearch that is silent is no different', async () => {
  world.anIndexer();
  await world.indexed();
  world.server.signal('SIGSTOP');
  const isSearched = async () => expect((await world.search({ query: '*' })).status).toBe(503);
  // The time limit is the rule: whoever asks is told within three seconds. A machine that stalls proves nothing.
  const in_time = await until('a search without a stall', async () => {
    const { took, late } = await timed(isSearched);
    return took < 3_000 || late < 100 ? { took } : undefined;
  });
  world.server.signal('SIGCONT');
  expect(in_time.took).toBeLessThan(3_000);
});

/** A writer whose documents of some orders have a key that the server refuses. */
const writerThatSpoils = (isSpoilt: (order_id: string, name: IndexName) => boolean) =>
  writerThat(world.writer, (name, orders) => {
    const spoilt = (order: IndexedOrder) => order.documents.map((document) => ({ ...document, pk: 'no key!' }));
    return world.writer.send(
      name,
      orders.map((order) => (isSpoilt(order.order_id, name) ? { ...order, documents: spoilt(order) } : order)),
    );
  });

it('rules 20.13: an order that the index refuses is set aside with the reason, and the rest goes on', async () => {
  const orders = await writeOrders(world.db, someOrders(20, 3));
  const [refused] = orders;
  const spoilt = writerThatSpoils((order_id) => order_id === refused);
  const indexer = world.anIndexer(spoilt);
  await world.indexed();
  await indexer.stop();
  expect(await queryRows(world.db, 'select order_id, reason from search_refusals')).toEqual([
    { order_id: refused, reason: 'invalid_document_id' },
  ]);
  expect(await count('*')).toBe(19);

  world.anIndexer();
  await queryRows(world.db, 'update orders set version = version + 1 where id = :refused', { refused });
  await world.indexed();
  expect([await count('*'), await queryRows(world.db, 'select 1 from search_refusals')]).toEqual([20, []]);
});

it('rules 20.13: a rebuilt index takes what the one before refused, also an order that changes meanwhile', async () => {
  const runOf = async (index: SearchWriter) => {
    const indexer = world.anIndexer(index);
    await world.indexed();
    await until('no rebuild is under way', async () => (await searchRebuild(world.db)) === undefined);
    await indexer.stop();
  };
  const refusals = async () => (await queryRows(world.db, 'select 1 from search_refusals')).length;
  await runOf(world.writer);
  const [unchanged, changed] = await writeOrders(world.db, someOrders(20, 7));
  const spoilt = writerThatSpoils((id, name) => name === INDEX && [unchanged, changed].includes(id));
  await runOf(spoilt);
  expect([await count('*'), await refusals()]).toEqual([18, 2]);

  await queryRows(world.db, 'update orders set version = version + 1 where id = :changed', { changed });
  await requestSearchRebuild(world.db, Date.now());
  await runOf(spoilt);
  expect([await count('*'), await refusals()]).toEqual([20, 0]);
});

test('rules 24.20: of two builds with other settings that alternate, the newer one rebuilds the index once', async () => {
  const older = { build: 'older', version: 'v', built_at: 1_000 };
  const newer = { build: 'newer', version: 'v', built_at: 2_000 };
  const { sortableAttributes } = SETTINGS;
  const otherSettings = { ...SETTINGS, sortableAttributes: sortableAttributes.slice(1) };
  const writers = { older: new SearchWriter(world.server, otherSettings), newer: world.writer };
  const rebuilds: string[] = [];
  /** Runs the indexer of a build as a worker does, until `done`. */
  const runIndexer = async ({ build, ...rest }: typeof older, done: () => Promise<unknown>) => {
    await claimCurrentBuild(world.db, { build, ...rest }, { any_version: true });
    const index = writers[build as keyof typeof writers];
    const counting = new Proxy(index, {
      get(target, key) {
        if (key === 'beginRebuild') rebuilds.push(build);
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const indexer = new Indexer({ db: world.db, index: counting, log, build });
    world.statements.length = 0;
    indexer.start();
    await until('it is done', done);
    await indexer.stop();
  };
  await runIndexer(older, async () => (await writers.older.state()) === 'current');
  for (let round = 1; round <= 4; round += 1) {
    await writeOrders(world.db, [{ merchant_order_id: `round ${round}` }]);
    if (round % 2 === 0) await runIndexer(older, hasAskedForLease);
    else await runIndexer(newer, isWritten);
  }
  expect(rebuilds).toEqual(['older', 'newer']);
  expect(await writers.newer.state()).toBe('current');
});
const hasAskedForLease = async () => world.statements.some((sql) => sql.includes('insert into leases'));
const isWritten = async () => {
  // Without a recent search, changes are gathered.
  await noteSearch(world.db);
  return !(await isIndexBehind(world.db)) && (await world.writer.state()) === 'current';
};

/** The writer, but for how it sends. */
const writerThat = (writer: SearchWriter, send: SearchWriter['send']): SearchWriter =>
  Object.assign(Object.create(writer) as SearchWriter, { send });

it('rules 20.18: a rebuild that is asked for fills a second index while the first answers, with what changes meanwhile', async () => {
  await writeOrders(world.db, someOrders(300, 5));
  world.anIndexer();
  await world.indexed();
  // What only a rebuild can bring back.
  await world.writer.write('orders', [{ order_id: (await ids())[0]!, documents: [] }]);
  await queryRows(world.db, 'delete from search_outbox');
  await requestSearchRebuild(world.db, Date.now());
  for (let n = 0; (await searchRebuild(world.db)) !== undefined; n += 1) {
    await writeOrders(world.db, [{ merchant_order_id: `during-${n}` }]);
    expect(await count('*')).toBeGreaterThanOrEqual(299);
  }
  await world.indexed();
  expect(await differences()).toMatchObject({ missing: 0, different: 0, unknown: 0 });
});

it('rules 20.18: an index that is lost while no order changes is made again', async () => {
  await writeOrders(world.db, someOrders(3, 7));
  world.anIndexer(world.writer, { prepares_every_ms: 100 });
  await world.indexed();
  await connectSearch(world.server, 'set-up').deleteIndex(INDEX).waitTask({ timeout: 60_000 });
  await world.indexed();
  expect(await differences()).toMatchObject({ orders: 3, missing: 0 });
});

/** How often Postgres was asked and did not answer; `undefined`: it answers. */
let asked_in_vain: number | undefined;

const ids = async () => await queryColumn<string>(world.db, 'select id from orders order by id');

it.each([
  ['', async () => {}],
  [', also if it does not hear of it', () => Promise.reject(new Error('the connection is cut'))],
  [', also if Postgres does not answer it then', async () => void (asked_in_vain = 0)],
])(
  'rules 20.12: orders that an indexer wrote after another had taken its lease are written again%s',
  async (what, then) => {
    asked_in_vain = undefined;
    const raw = (...statement: Parameters<Database['raw']>) => {
      if (asked_in_vain === undefined) return world.db.raw(...statement);
      asked_in_vain += 1;
      return Promise.reject(new Error('Query read timeout'));
    };
    const db = Object.create(world.db, { raw: { value: raw } }) as Database;
    const [order_id = ''] = await writeOrders(world.db, [{ merchant_order_id: 'first' }]);
    const rename = (merchant_order_id: string) =>
      queryRows(
        world.db,
        'update orders set version = version + 1, merchant_order_id = :merchant_order_id where id = :order_id',
        { order_id, merchant_order_id },
      );
    const newest = `newest${what.length}`;
    proceed = undefined;
    let isSlow = false;
    const slow = writerThat(world.writer, async (name, orders) => {
      const isWaiting = isSlow;
      if (isWaiting) await new Promise<void>((resolve) => (proceed = resolve));
      const sent = await world.writer.send(name, orders);
      if (isWaiting) await then();
      return sent;
    });
    let warned = 0;
    const log = pino({ level: 'warn' }, { write: () => void (warned += 1) });
    const indexer = world.anIndexer(slow, { db, log });
    await world.indexed();
    isSlow = true;
    await rename('older');
    await until('it has read the order', () => proceed !== undefined);
    isSlow = false;

    // Another takes the lease and writes what has changed since.
    await queryRows(
      world.db,
      `update leases set holder = 'another', expires_at = clock_timestamp() + interval '1 hour'`,
    );
    await rename(newest);
    await queryRows(world.db, 'delete from search_outbox');
    await world.writer.write('orders', await indexedOrders(world.db, [order_id]));
    expect(await count(`merchant_order_id:${newest}`)).toBe(1);

    proceed!();
    if (what.includes('Postgres')) {
      await until('it has failed', () => warned > 0);
      asked_in_vain = undefined;
      // It is noted again, and may be written at once.
      await until('the order is found', async () => (await count(`merchant_order_id:${newest}`)) === 1);
    } else {
      await until('the order is noted again', async () => (await waitingForSearch(world.db, [order_id])).length > 0);
    }
    await queryRows(world.db, 'delete from leases');
    await world.indexed();
    expect(await count(`merchant_order_id:${newest}`)).toBe(1);
    expect(await differences()).toMatchObject({ missing: 0, different: 0 });
    await indexer.stop();
  },
);

it.each(['before', 'after'])(
  'rules 20.18: an indexer that loses its lease right %s it swaps the indexes does not disturb the rebuild of the next one',
  async (when) => {
    const [order_id = ''] = await writeOrders(world.db, someOrders(20, 11));
    world.anIndexer();
    await world.indexed();
    await world.stopIndexers();
    proceed = undefined;
    const pause = () => new Promise<void>((resolve) => (proceed = resolve));
    const slow = Object.assign(Object.create(world.writer) as SearchWriter, {
      async swapRebuilt(...swap: Parameters<SearchWriter['swapRebuilt']>) {
        if (when === 'before') await pause();
        await world.writer.swapRebuilt(...swap);
        if (when === 'after') await pause();
      },
    });
    await requestSearchRebuild(world.db, Date.now());
    const indexer = world.anIndexer(slow);
    await until('it swaps the indexes', () => proceed !== undefined);

    // Another takes the lease, sees the request and begins.
    await queryRows(
      world.db,
      `update leases set holder = 'another', expires_at = clock_timestamp() + interval '1 hour'`,
    );
    const rebuilt = await world.writer.beginRebuild();
    await world.writer.write(rebuilt, await indexedOrders(world.db, [order_id]));
    proceed!();
    await indexer.stop();
    const { numberOfDocuments } = await connectSearch(world.server, 'set-up').index(rebuilt).getStats();
    expect(numberOfDocuments).toBeGreaterThan(0);
    expect(await count('*')).toBe(20);
    expect(await searchRebuild(world.db)).toBeDefined();
  },
);
