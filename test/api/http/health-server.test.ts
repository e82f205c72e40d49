import { pino } from 'pino';
import { serveHealth } from '../../../api/http/health-server';
import type { HttpServer } from '../../../src/http-server';

let is_available = true;
let problem: string | undefined;
let server: HttpServer;
beforeAll(async () => {
  const check = () => (is_available ? Promise.resolve() : Promise.reject(new Error('connection refused')));
  const probes = [
    { name: 'worker', required: true, check: () => Promise.resolve() },
    { name: 'postgres', required: true, check },
  ];
  server = await serveHealth(probes, pino({ enabled: false }), { host: '127.0.0.1', port: 0, problem: () => problem });
});
afterAll(() => server.close());

const statusOf = async (path: string) => (await fetch(`${server.url}${path}`)).status;

test('rules 24.6: a process without an API answers whether it is live and ready', async () => {
  expect([await statusOf('/health/live'), await statusOf('/health/ready')]).toEqual([200, 200]);
  is_available = false;
  expect([await statusOf('/health/live'), await statusOf('/health/ready')]).toEqual([200, 503]);
});

test('rules 24.6: while it has a problem it is not live, and says why', async () => {
  problem = 'Temporal has answered no poll for 95 s';
  const answer = await fetch(`${server.url}/health/live`);
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining(`Not live: ${problem}.`)]);
  problem = undefined;
  expect(await statusOf('/health/live')).toBe(200);
});

test('it answers nothing else', async () => {
  const answer = await fetch(`${server.url}/`);
  expect(await answer.json()).toMatchObject({ error: { status: 404, type: 'NotFound' } });
});
