import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import pino from 'pino';
import { SearchReader } from '../../../src/search/reader';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

/** Keeps what it is asked; the tests answer. */
async function aSilentServer() {
  const asked: { body: { filter: string[]; limit: number }; response: ServerResponse }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => asked.push({ body: body as (typeof asked)[number]['body'], response }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const readerOf = (oldest_ms: number) =>
    new SearchReader({ url }, async () => ({ is_behind: false, oldest_ms }), pino({ level: 'silent' }));
  const close = () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve)));
  return { asked, readerOf, close };
}
const server = setUp(aSilentServer);
beforeEach(() => server.asked.splice(0));

const answer = (response: ServerResponse, more: object = {}) =>
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ hits: [], processingTimeMs: 1, ...more }));
const wanted = (field: 'created' | 'modified') =>
  ({ project_id: 'p', query: { op: 'all' }, sort: { field, direction: 'desc' } }) as const;

test('rules 20.25: a search of which one part failed has not ended while the index works on the other', async () => {
  let ended = false;
  const page = { size: 1, after: { value: null, order_sequence: 1 } };
  const search = server.readerOf(0).orders(wanted('created'), page);
  const outcome = search.then(
    () => 'found',
    (error: Error) => error.message,
  );
  void outcome.finally(() => (ended = true));
  // The rows of the page and the number of all.
  await until('both are asked for', () => server.asked.length === 2);
  const [failing, slow] = server.asked.map(({ response }) => response);
  failing!.writeHead(500).end();
  await until('the first has failed', () => failing!.writableFinished);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(ended).toBe(false);
  answer(slow!);
  expect(await outcome).toBe('Orders cannot be searched at this moment.');
});

test.each([
  [50_000, { totalHits: 9_999 }, { hits: 9_999, is_estimate: false }],
  [50_001, undefined, { hits: 50_001, is_estimate: true }],
])(
  'rules 20.10: of %i transactions that a query meets, hits counts the orders, or says that it does not',
  async (estimatedTotalHits, counted, hits) => {
    const query = { op: 'equals', field: 'transaction.status', value: 'error' } as const;
    const search = server.readerOf(0).orders({ ...wanted('created'), query }, { size: 1, start: 0 });
    await until('page and number are asked for', () => server.asked.length === 2);
    for (const { response } of server.asked) answer(response, { estimatedTotalHits });
    if (counted !== undefined) {
      await until('the orders are counted', () => server.asked.length === 3);
      answer(server.asked[2]!.response, counted);
    }
    expect(await search).toMatchObject(hits);
  },
);

test('rules 20.14: a report reads again what changed since the oldest change that the index lacked, and before', async () => {
  const [oldest_ms, began] = [59_000, Date.now()];
  const rows = server.readerOf(oldest_ms).rows(wanted('modified'), 10, (search) => search());
  const ended = rows.next();
  await until('the rows are asked for', () => server.asked.length === 1);
  answer(server.asked[0]!.response);
  await until('the changed rows are asked for', () => server.asked.length === 2);
  const { body, response } = server.asked[1]!;
  const since = Number(/^modified >= (\d+)$/.exec(body.filter[1] ?? '')?.[1]);
  expect(since).toBeLessThan(began - oldest_ms - 60_000);
  answer(response);
  expect(await ended).toEqual({ done: true, value: undefined });
});

test('rules 20.14: no report is made from an index that lacks changes of more than a minute ago', async () => {
  const rows = server.readerOf(61_000).rows(wanted('created'), 10, (search) => search());
  await expect(rows.next()).rejects.toMatchObject({ error: 'ServiceUnavailable' });
  expect(server.asked).toEqual([]);
});
