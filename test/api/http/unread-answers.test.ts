import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { PIPELINED_MAX, boundUnread, inOrder } from '../../../api/http/unread-answers';
import { gauges } from '../../../src/metrics/recorder';
import { setUp } from '../../support/set-up';
import { serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const api = setUp(() => serveTestApi());
const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(handle: http.RequestListener): Promise<{ server: http.Server; port: number }> {
  const server = http.createServer(inOrder(handle));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  return { server, port: (server.address() as AddressInfo).port };
}

function send(port: number, count: number): net.Socket {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count));
  return socket;
}

/** More than the buffers of a connection take. */
const LARGE = Buffer.alloc(16 * 1_024 * 1_024);

test('rules 18.9: of many requests on a connection that reads nothing one is handled, when it reads the others too', async () => {
  let handled = 0;
  const { port } = await serve((_request, response) => {
    handled += 1;
    response.end(LARGE);
  });
  const socket = send(port, 3);
  await until('the first is handled', () => handled > 0);
  // Answered on its own connection, after the three have arrived.
  await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
  expect(handled).toBe(2);
  socket.resume();
  expect(await until('all are handled', () => handled === 4)).toBe(true);
  socket.destroy();
});

test('a request that has not begun when its client leaves is dropped', async () => {
  let handled = 0;
  let left = false;
  const { port } = await serve((request, response) => {
    handled += 1;
    request.socket.once('close', () => (left = true));
    response.write('first');
  });
  const socket = send(port, 3);
  await until('the first is handled', () => handled > 0);
  socket.destroy();
  await until('the client has left', () => left);
  await new Promise(setImmediate);
  expect(handled).toBe(1);
});

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n';
test.each([
  ['at once', 0],
  // More than is read from a connection at a time.
  ['after a body', 65_536],
])('a request behind an answer that ends its connection is not handled: sent %s', async (_title, length) => {
  let handled = 0;
  const { port } = await serve((_request, response) => {
    handled += 1;
    response.setHeader('Connection', 'close').end('last');
  });
  const socket = net.connect(port, '127.0.0.1');
  socket.write(`${GET}Content-Length: ${length}\r\n\r\n${'x'.repeat(length)}${GET}\r\n`);
  await once(socket.resume(), 'close');
  expect(handled).toBe(1);
});

test('no request stays in flight behind an answer whose end is that of its connection', async () => {
  const inFlight = () => [...gauges.get('payments_http_requests_in_flight')!].flatMap((read) => read())[0]!.value;
  const socket = net.connect(api.port, '127.0.0.1');
  socket.write(
    ['OPTIONS /', 'GET /docs/openapi.json']
      .map((line) => `${line} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`)
      .join(''),
  );
  await once(socket.resume(), 'close');
  expect(await until('none is in flight', () => inFlight() === 0, 5_000)).toBe(true);
});

test('rules 18.9: a connection that sends more than a hundred requests ahead of an answer is closed', async () => {
  let handled = 0;
  let closed = false;
  const { port } = await serve((request, response) => {
    handled += 1;
    if (handled === 1) request.socket.once('close', () => (closed = true));
    else response.end();
  });
  const socket = send(port, PIPELINED_MAX + 1);
  await until('the first is handled', () => handled > 0);
  // Answered on its own connection, after all have arrived.
  await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
  expect([handled, closed]).toEqual([2, false]);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until('it is closed', () => closed);
  expect(handled).toBe(2);
});

test('rules 18.9: too many bytes that nobody reads end the connections that took nothing for the longest time', async () => {
  const { server, port } = await serve((_request, response) => void response.end(LARGE));
  boundUnread(server, 10, 3.5 * LARGE.length);
  const closed: number[] = [];
  let connections = 0;
  const open: net.Socket[] = [];
  server.on('connection', (socket) => {
    const n = connections++;
    socket.once('close', () => closed.push(n));
  });
  for (let n = 0; n < 5; n += 1) {
    const answered = new Promise((resolve) => server.once('request', resolve));
    open.push(send(port, 1));
    await answered;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await until('two are closed', () => closed.length === 2);
  expect(new Set(closed)).toEqual(new Set([0, 1]));
  for (const socket of open) socket.destroy();
});
