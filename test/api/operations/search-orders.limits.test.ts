import { createBulkReads } from '../../../api/large-answers/bulk-reads';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import pino from 'pino';
import { searchOrders } from '../../../api/operations/search-orders';
import { findProject } from '../../../src/db/projects/projects';
import { SEARCH_FIELD_NAMES } from '../../../src/domain/query/fields';
import { QUERY_LIMITS, parseQuery } from '../../../src/domain/query/parse';
import { SearchReader } from '../../../src/search/reader';
import { CUTOFF_MS } from '../../../src/search/settings';
import { PROJECT } from '../../support/domain';
import { writeOrders } from '../../support/rows';
import { aSearchWorld, type SearchAnswer } from '../../support/search';
import { plainOrders, plainSearch, someOrders } from '../../support/search-orders';
import { setUp } from '../../support/set-up';
import { serveTestApi } from '../../support/test-api';
import { sendUntilAnswered, until } from '../../support/waits';

const world = setUp(aSearchWorld);
beforeAll(async () => {
  world.anIndexer();
  await writeOrders(world.db, someOrders(60, 11));
  await world.indexed();
});

describe('rules 20.24: the index reads every query that is not refused', () => {
  const closed = (opening: string, levels: number) => opening + ')'.repeat(levels);
  const alternating = (levels: number) =>
    closed(
      Array.from({ length: levels }, (_, n) => (n % 2 === 0 ? '-kind:refund AND (' : 'status:new OR (')).join('') + 'a',
      levels,
    );
  const oneLevelEach = (levels: number) => closed(`${'status:new (amount:1 OR '.repeat(levels)}a`, levels);
  test.each([
    ['40 times NOT', `${'NOT '.repeat(40)}status:new`],
    ['49 times NOT with parentheses', closed(`${'NOT ('.repeat(24)}-status:new`, 24)],
    ['OR and AND in turn, 49 deep', alternating(49)],
    ['below NOT', `NOT (${alternating(48)})`],
    ['OR within AND, as deep as allowed', oneLevelEach(48)],
    ['a range below NOT, as deep as allowed', `-(${oneLevelEach(47)} OR amount:[1 TO 99])`],
    ['500 terms', Array.from({ length: 500 }, (_, n) => `amount:${n}`).join(' OR ')],
    ['8,192 characters', `merchant_order_id:"${'語'.repeat(QUERY_LIMITS.characters - 20)}"`],
  ])('%s', async (_, query) => {
    const { status, body } = await world.search({ query, size: 1_000 });
    expect([status, body.error]).toEqual([200, undefined]);
    const parsed = parseQuery(query) as Extract<ReturnType<typeof parseQuery>, { query: unknown }>;
    const expected = plainSearch(await plainOrders(world.db), parsed.query);
    expect(body.orders.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  });

  it('one level deeper is a ValidationError with the position', async () => {
    const { status, body } = await world.search({ query: oneLevelEach(49) });
    expect([status, body.error]).toMatchObject([400, { type: 'ValidationError', property_path: 'query' }]);
    expect(body.error?.property_description).toBe('OR within AND deeper than 48 times at 1165');
  });

  it('random queries of up to the allowed length and depth', async () => {
    const term = fc.oneof(
      fc.constantFrom('a', '-b', '*', '"two books"', 'amount:[1 TO 99]', 'created:{2026-01-15 TO *]', 'completed:'),
      fc.constantFrom(...SEARCH_FIELD_NAMES).map((name) => `${name}:`),
    );
    const opening = fc.constantFrom('(', 'NOT (', '-(', 'NOT -(');
    const level = fc.tuple(term, fc.constantFrom(' ', ' OR ', ' AND '), opening).map((parts) => parts.join(''));
    const nested = fc.tuple(fc.array(level, { maxLength: 52, size: 'max' }), fc.array(term, { minLength: 1 }));
    const query = nested.map(([levels, terms]) => closed(levels.join('') + terms.join(' OR '), levels.length));
    let deep = 0;
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const { status, body } = await sendUntilAnswered<SearchAnswer>(() => world.search({ query: text }));
        expect([text, status, body.error?.type]).toEqual([
          text,
          ...('query' in parseQuery(text) ? [200, undefined] : [400, 'ValidationError']),
        ]);
        if (status === 200 && text.split('(').length > 20) deep += 1;
      }),
      { numRuns: 75 },
    );
    expect(deep).toBeGreaterThan(0);
  });
});

it('rules 20.23: prefix terms beyond the limit are a ValidationError that says how many are allowed, and where', async () => {
  const query = (count: number) => Array.from({ length: count }, (_, n) => `merchant_order_id:a${n}*`).join(' OR ');
  expect((await world.search({ query: query(10) })).status).toBe(200);
  const { status, body } = await world.search({ query: query(500).slice(0, 8_000) + '*' });
  expect([status, body.error]).toMatchObject([400, { type: 'ValidationError', property_path: 'query' }]);
  expect(body.error?.property_description).toBe('more than 10 terms that end with * at 251');
});

it('an index of an earlier version gets the limit on the time of a search without a rebuild', async () => {
  const headers = { authorization: `Bearer ${world.server.master_key}`, 'content-type': 'application/json' };
  const setting = `${world.server.url}/indexes/orders/settings/search-cutoff-ms`;
  const uid = async () => (await (await fetch(`${world.server.url}/indexes/orders`, { headers })).json()) as object;
  await world.stopIndexers();
  await fetch(setting, { method: 'PUT', headers, body: '60000' });
  const before = await uid();
  world.anIndexer();
  await until('the setting is changed', async () => {
    return ((await (await fetch(setting, { headers })).json()) as number) === CUTOFF_MS;
  });
  // A rebuild makes the index anew.
  expect(await uid()).toMatchObject({ createdAt: (before as { createdAt: string }).createdAt });
});

describe('rules 20.25: a project has one search under way', () => {
  /** Answers when the test says so, as a server does that is busy with a search. */
  async function aBusyServer() {
    const asked: ServerResponse[] = [];
    const answer = { processingTimeMs: 1 };
    const server = createServer(
      (_, response) => void asked.push(response.setHeader('content-type', 'application/json')),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const release = () => {
      for (const response of asked) response.end(JSON.stringify({ hits: [], estimatedTotalHits: 0, ...answer }));
    };
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      asked,
      answer,
      release,
      close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
    };
  }
  let server: Awaited<ReturnType<typeof aBusyServer>>;
  let api: Awaited<ReturnType<typeof serveTestApi>>;
  beforeEach(async () => {
    server = await aBusyServer();
    const project = (await findProject(world.db, PROJECT.id))!;
    const search = new SearchReader(
      server,
      async () => ({ is_behind: false, oldest_ms: 0 }),
      pino({ level: 'silent' }),
    );
    api = await serveTestApi({
      // Each key is a project of its own.
      findOwner: async (id) => ({ project: { ...project, id }, api_key_id: '0123456789ab' }),
      operations: {
        searchOrders: searchOrders({ bulk: createBulkReads(world.db, 2), search, public_url: 'https://pay.example' }),
      },
    });
  });
  afterEach(async () => {
    await api.close();
    await server.close();
  });
  const OTHER = '0190c000-0000-7000-8000-00000000dddd';
  async function search(project_id: string, options: RequestInit & { format?: string } = {}) {
    const { format = '', ...rest } = options;
    const headers = { authorization: `Basic ${btoa(`${project_id}:`)}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: 'status:new' });
    const response = await api.send(`/v1/search/orders/${format}`, { method: 'POST', headers, body, ...rest });
    await response.arrayBuffer();
    return [response.status, response.headers.get('retry-after')] as [number, string | null];
  }

  it('until the index has ended with it, also when nobody waits for the answer any longer', async () => {
    const first = await Promise.all(Array.from({ length: 5 }, () => search(PROJECT.id)));
    expect(first).toEqual(Array.from({ length: 5 }, () => [503, expect.any(String)]));
    expect(server.asked).toHaveLength(1);
    expect(await search(PROJECT.id)).toEqual([503, expect.any(String)]);
    expect(server.asked).toHaveLength(1);

    const of_other = search(OTHER);
    await until('the search of the other project is under way', () => server.asked.length === 2);
    const next = search(PROJECT.id);
    server.release();
    expect((await of_other)[0]).toBe(200);
    await until('the next search is under way', () => server.asked.length === 3);
    server.release();
    expect((await next)[0]).toBe(200);
  });

  it('also of a report, until the index has ended with it, and when its client has left', async () => {
    const client = new AbortController();
    const report = search(PROJECT.id, { format: '?format=csv', signal: client.signal });
    await until('the report is under way', () => server.asked.length === 1);
    client.abort();
    await expect(report).rejects.toThrow('abort');
    const next = [search(PROJECT.id, { format: '?format=csv' }), search(PROJECT.id)];
    expect(await Promise.all(next)).toEqual(Array.from({ length: 2 }, () => [503, expect.any(String)]));
    expect(server.asked).toHaveLength(1);
    server.release();
    const answering = setInterval(server.release, 5);
    expect(await search(PROJECT.id, { format: '?format=csv' })).toEqual([200, null]);
    clearInterval(answering);
  });

  it('others wait, and beyond 30 that wait the answer is 429 with Retry-After', async () => {
    const answers: [number, string | null][] = [];
    const sent = Array.from({ length: 34 }, async () => answers.push(await search(PROJECT.id)));
    await until('the last ones are refused', () => answers.length === 3);
    const answering = setInterval(server.release, 5);
    await Promise.all(sent);
    clearInterval(answering);
    expect(answers.filter(([status]) => status === 429)).toEqual(Array.from({ length: 3 }, () => [429, '1']));
    // On a busy machine the last ones may wait too long.
    const waited = answers.map(([status]) => status).filter((status) => status !== 429);
    expect(waited.every((status) => status === 200 || status === 503)).toBe(true);
    expect(waited.filter((status) => status === 200).length).toBeGreaterThan(1);
  });

  it('an answer that the index has cut off is none', async () => {
    server.answer.processingTimeMs = CUTOFF_MS;
    const answer = search(PROJECT.id);
    await until('the search is under way', () => server.asked.length === 1);
    server.release();
    expect(await answer).toEqual([503, expect.any(String)]);
  });
});
