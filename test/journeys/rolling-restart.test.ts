import http from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Merchant, newIdempotencyKey } from '../support/merchant';
import { startProcess, type TestProcess } from '../support/process';
import { until } from '../support/waits';

/** Restarts of processes that others stand in for: no request fails. */

const running: TestProcess[] = [];
const start = async (...options: Parameters<typeof startProcess>) => {
  const started = await startProcess(...options);
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

/** Many checks of the balancer. Milliseconds. */
const DRAIN_MS = '1000';
const CHECK_MS = 25;

const isReady = ({ url }: TestProcess) =>
  fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

/** A load balancer that leads each new connection to the next process that is ready, and lets the others be. */
async function startBalancer() {
  const processes = new Map<TestProcess, boolean>();
  let next = 0;
  const check = async () => {
    await Promise.all([...processes.keys()].map(async (one) => processes.set(one, await isReady(one))));
  };
  const over = new AbortController();
  const checking = (async () => {
    while (!over.signal.aborted) {
      await check();
      await sleep(CHECK_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  const server = net.createServer((socket) => {
    const ready = [...processes].filter(([, is_ready]) => is_ready);
    const chosen = ready[(next += 1) % ready.length];
    if (chosen === undefined) return void socket.destroy();
    const upstream = net.connect(Number(new URL(chosen[0].url).port), '127.0.0.1');
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    /** Resolves when the process gets connections. */
    async add(one: TestProcess): Promise<void> {
      processes.set(one, false);
      await until('the balancer has seen that it is ready', () => processes.get(one));
    },
    remove: (one: TestProcess) => processes.delete(one),
    async close(): Promise<void> {
      over.abort();
      await checking;
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A client that keeps its connections and sends nothing twice. */
class KeepingClient {
  private readonly agent = new http.Agent({ keepAlive: true });
  /** The answers by status, and what had none by its cause. */
  readonly results: Record<string, number> = {};
  connections = 0;

  constructor(
    private readonly port: number,
    private readonly merchant: Merchant,
  ) {}

  async create(): Promise<void> {
    await this.send('POST', '/v1/orders/', JSON.stringify({ currency: 'EUR', amount: 1_250 }));
  }

  async read(order_id: string): Promise<void> {
    await this.send('GET', `/v1/orders/${order_id}/`);
  }

  private async send(method: 'GET' | 'POST', path: string, body?: string): Promise<void> {
    const { agent, port, merchant } = this;
    const headers = {
      authorization: `Basic ${Buffer.from(`${merchant.api_key}:`).toString('base64')}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': newIdempotencyKey() }),
    };
    const result = await new Promise<string>((resolve) => {
      const request = http.request({ agent, port, host: '127.0.0.1', method, path, headers }, (response) => {
        response.resume();
        response.once('end', () => resolve(String(response.statusCode)));
        response.once('error', (error) => resolve(error.message));
      });
      request.once('socket', () => (this.connections += request.reusedSocket ? 0 : 1));
      request.once('error', (error) => resolve(error.message));
      request.end(body);
    });
    this.results[result] = (this.results[result] ?? 0) + 1;
  }

  close(): void {
    this.agent.destroy();
  }
}

test('rules 2.9: two APIs are restarted one after the other while clients keep their connections: no request fails', async () => {
  const env = { DRAIN_MS };
  const balancer = await startBalancer();
  const old = await Promise.all([start('api', { env }), start('api', { env })]);
  await Promise.all(old.map((api) => balancer.add(api)));
  const merchant = new Merchant();
  const { id } = await merchant.createOrder();
  const client = new KeepingClient(balancer.port, merchant);
  let is_over = false;
  const sending = Array.from({ length: 6 }, async () => {
    for (let n = 0; !is_over; n += 1) await (n % 4 === 0 ? client.create() : client.read(id));
  });
  for (const api of old) {
    api.kill('SIGTERM');
    await until('it has ended', () => api.ended());
    expect(api.ended()).toMatch(/^0: /);
    balancer.remove(api);
    await balancer.add(await start('api', { env }));
  }
  is_over = true;
  await Promise.all(sending);
  client.close();
  await balancer.close();
  const answered = client.results['200'] ?? 0;
  expect(client.results).toEqual({ '200': answered });
  // Connections were kept, and all those of a process that stopped were opened anew.
  expect(client.connections).toBeGreaterThan(sending.length);
  expect(answered).toBeGreaterThan(5 * client.connections);
}, 120_000);

test.each([
  ['api', 'SIGTERM'],
  ['manage', 'SIGINT'],
] as const)('rules 2.9: %s drains and says so; a second signal, %s, goes on at once', async (name, signal) => {
  const host = await start(name, { env: { DRAIN_MS: '60000' } });
  const ready = () => fetch(`${host.url}/health/ready`);
  expect((await ready()).status).toBe(200);
  host.kill('SIGTERM');
  const answer = await until('it is not ready', async () => {
    const response = await ready();
    return response.status === 503 && response;
  });
  expect([answer.headers.get('connection'), await answer.json()]).toEqual([
    'close',
    { error: { status: 503, type: 'ServerError', value: 'Not ready: draining.' } },
  ]);
  const other = await fetch(`${host.url}/`);
  expect([other.status, other.headers.get('connection'), host.ended()]).toEqual([200, 'close', undefined]);
  host.kill(signal);
  expect(await until('it has ended', () => host.ended(), 30_000)).toMatch(/^0: /);
});
