import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { SearchReader } from '../../../src/search/reader';
import { until } from '../../support/waits';

test('rules 20.25: a search of which one part failed has not ended while the index works on the other', async () => {
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => void waiting.push(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const reader = new SearchReader({ url }, () => Promise.resolve(false), pino({ level: 'silent' }));
  const wanted = {
    project_id: 'p',
    query: { op: 'all' },
    sort: { field: 'created', direction: 'desc' },
  } as const;
  let ended = false;
  const search = reader.orders(wanted, { size: 1, after: { value: null, order_sequence: 1 } });
  const outcome = search.then(
    () => 'found',
    (error: Error) => error.message,
  );
  void outcome.finally(() => (ended = true));
  // The rows of the page and the number of all.
  await until('both are asked for', () => waiting.length === 2);
  waiting[0]!.writeHead(500).end();
  await until('the first has failed', () => waiting[0]!.writableFinished);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(ended).toBe(false);
  waiting[1]!.writeHead(200, { 'content-type': 'application/json' }).end('{"hits":[]}');
  expect(await outcome).toBe('Orders cannot be searched at this moment.');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
