import { randomBytes } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import type { Order } from '../../src/contract/order';
import { readVariables } from '../../src/stack/launch';
import { answerOfAdmin } from '../support/admin';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { Merchant, newIdempotencyKey } from '../support/merchant';
import { Operator } from '../support/operator';
import { startProcess, type TestProcess } from '../support/process';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { idle, OwnStack, type RunningStack } from '../support/stack';
import { inNamespace } from '../support/temporal-client';
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
/** Processes that one request is offered to. */
const PROCESS_TRIES = 4;
const CHECK_MS = 25;

const isReady = ({ url }: TestProcess) =>
  fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * A load balancer that uses the processes that are ready in turn. It leads each connection to one, or with
 * `of: 'requests'` each request over a connection of its own: so a client never sends on one that a process closes.
 */
async function startBalancer({ of }: { of: 'connections' | 'requests' } = { of: 'connections' }) {
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
  /** The address of the next one that is ready. As balancers do: where a busy machine shows none as ready, of any. */
  const choose = (): { host: string; port: number } | undefined => {
    const ready = [...processes].filter(([, is_ready]) => is_ready);
    const usable = ready.length > 0 ? ready : [...processes];
    const chosen = usable[(next += 1) % usable.length];
    return chosen && { host: '127.0.0.1', port: Number(new URL(chosen[0].url).port) };
  };
  const leadConnection = (socket: net.Socket): void => {
    const address = choose();
    if (address === undefined) return void socket.destroy();
    const upstream = net.connect(address);
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  };
  const leadRequest = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const { method, url, headers } = request;
    const body = await buffer(request);
    const send = (tries: number): void => {
      const address = choose();
      if (address === undefined) return void response.destroy();
      const upstream = http.request({ ...address, method, path: url, headers, agent: false }, (answer) => {
        const { connection: _, ...kept } = answer.headers;
        response.writeHead(answer.statusCode!, kept);
        answer.pipe(response);
      });
      // As balancers do: where nobody listens nothing was sent, and another process gets the request.
      upstream.on('error', ({ code }: NodeJS.ErrnoException) =>
        code === 'ECONNREFUSED' && tries < PROCESS_TRIES ? send(tries + 1) : void response.destroy(),
      );
      upstream.end(body);
    };
    send(1);
  };
  const server =
    of === 'requests' ? http.createServer((...one) => void leadRequest(...one)) : net.createServer(leadConnection);
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** Resolves when the process gets connections. */
    async add(one: TestProcess): Promise<void> {
      processes.set(one, false);
      await until('the balancer has seen that it is ready', () => processes.get(one));
    },
    remove: (one: TestProcess) => processes.delete(one),
    async close(): Promise<void> {
      over.abort();
      await checking;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Sent in 10 seconds, about as long as the restarts take. */
const LOAD = { requests: 600, requests_per_second: 60, creations_per_second: 5, connections_max: 20 };

/**
 * Reads an order, and creates others, as LOAD says, over kept connections; sends nothing twice. The rate does not depend
 * on answers: after a stall of the machine all requests that are overdue are sent. Where the restarts take longer, more
 * follow until `over`, without a backlog. Resolves when all have a result.
 */
async function sendSteadily(port: number, { api_key }: Merchant, order_id: string, over: AbortSignal) {
  const { requests, requests_per_second, creations_per_second, connections_max } = LOAD;
  // All connections are used in turn: none is idle for as long as a process drains.
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections_max, scheduling: 'fifo' });
  /** The answers by method and status, and requests without one by the cause. */
  const results: Record<string, number> = {};
  const connections = new Set<net.Socket>();
  const sent: Promise<void>[] = [];
  let in_flight = 0;
  const send = async (): Promise<void> => {
    in_flight += 1;
    const creates = sent.length % (requests_per_second / creations_per_second) === 0;
    const [method, path] = creates ? ['POST', '/v1/orders/'] : ['GET', `/v1/orders/${order_id}/`];
    const headers = {
      authorization: `Basic ${Buffer.from(`${api_key}:`).toString('base64')}`,
      ...(creates && { 'content-type': 'application/json', 'idempotency-key': newIdempotencyKey() }),
    };
    const result = await new Promise<number | string>((resolve) => {
      const request = http.request({ agent, port, host: '127.0.0.1', method, path, headers }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode!));
        response.once('error', (error) => resolve(error.message));
      });
      request.once('socket', (socket) => connections.add(socket));
      request.once('error', (error) => resolve(error.message));
      request.end(creates ? JSON.stringify({ currency: 'EUR', amount: 1_250 }) : undefined);
    });
    in_flight -= 1;
    results[`${method} ${result}`] = (results[`${method} ${result}`] ?? 0) + 1;
  };
  const began = performance.now();
  for (; sent.length < requests || !over.aborted; await sleep(5)) {
    // The first ones, all at once, open the connections.
    const due = connections_max + (requests_per_second * (performance.now() - began)) / 1_000;
    while (sent.length < Math.min(due, requests)) sent.push(send());
    if (sent.length >= requests && in_flight < connections_max) sent.push(send());
  }
  await Promise.all(sent);
  agent.destroy();
  return { sent: sent.length, results, connections: connections.size };
}

test('rules 2.9: two APIs are restarted one after the other at 60 requests a second on kept connections: none fails', async () => {
  const { requests, requests_per_second, creations_per_second, connections_max } = LOAD;
  // Longer than a busy machine leaves a connection idle.
  const env = { DRAIN_MS: '2500', LOG_REQUESTS: 'none' };
  const balancer = await startBalancer();
  const old = await Promise.all([start('api', { env }), start('api', { env })]);
  await Promise.all(old.map((api) => balancer.add(api)));
  const merchant = new Merchant();
  const { id } = await merchant.createOrder();
  const over = new AbortController();
  const sending = sendSteadily(balancer.port, merchant, id, over.signal);
  try {
    for (const api of old) {
      api.kill('SIGTERM');
      await until('it has ended', () => api.ended());
      expect(api.ended()).toMatch(/^0: /);
      balancer.remove(api);
      await balancer.add(await start('api', { env }));
    }
  } finally {
    over.abort();
  }
  const { sent, results, connections } = await sending;
  await balancer.close();
  const creations = Math.ceil((sent * creations_per_second) / requests_per_second);
  expect(results).toEqual({ 'GET 200': sent - creations, 'POST 200': creations });
  expect(sent).toBeGreaterThanOrEqual(requests);
  // Connections were kept, and all those of a process that stopped were opened anew.
  expect(connections).toBeGreaterThan(connections_max);
  expect(sent).toBeGreaterThan(5 * connections);
}, 300_000);

describe('every key that several processes share is replaced while they serve requests', () => {
  type Kind = 'api' | 'manage' | 'worker';
  /** How many processes of each kind run, and a further one while they are replaced. ROTATION=3,2,3 is a run by hand. */
  const [apis = 1, manages = 1, workers = 1] = (process.env['ROTATION'] ?? '').split(',').filter(Boolean).map(Number);
  const PROCESSES: Readonly<Record<Kind, number>> = { api: apis, manage: manages, worker: workers };
  /** Between two requests of a client. Milliseconds. */
  const PAUSE_MS = 300;

  const receiver = setUp(startReceiver);
  const balancers = setUp(async () => {
    const [api, manage] = await Promise.all([startBalancer({ of: 'requests' }), startBalancer({ of: 'requests' })]);
    return { api, manage, close: () => Promise.all([api.close(), manage.close()]) };
  });
  const own = new OwnStack(
    'key-rotation',
    async () => ({
      ...(await inNamespace('key-rotation')),
      DEMO_WEBHOOK_URL: receiver.url,
      PROCESSOR_NOTIFICATION_URL: `${balancers.api.url}/processor/notifications/`,
    }),
    // They would keep the old keys.
    idle('api', 'manage', 'worker'),
  );
  const replaced: Record<Kind, TestProcess[]> = { api: [], manage: [], worker: [] };
  let stack: RunningStack;
  let old: Record<keyof typeof NEW, string>;

  const aKey = () => `next:${randomBytes(32).toString('base64')}`;
  const NEW = {
    SECRET_KEYS: aKey(),
    PAYLOAD_KEYS: aKey(),
    PAGE_SECRET: randomBytes(32).toString('base64url'),
    PROCESSOR_NOTIFICATION_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
  };
  /** The variables with the values of several sets, the first ones to be used. */
  const keysOf = (...sets: (typeof NEW)[]) =>
    Object.fromEntries(
      Object.keys(NEW).map((name) => [name, sets.map((set) => set[name as keyof typeof NEW]).join(',')]),
    );

  async function startWith(kind: Kind, keys: Record<string, string>): Promise<void> {
    const env = { ...keys, DRAIN_MS, LOG_REQUESTS: 'none' };
    const started = await startProcess(kind, { env, data_dir: own.data_dir });
    replaced[kind].push(started);
    if (kind !== 'worker') await balancers[kind].add(started);
  }

  /**
   * Replaces the processes of a kind by new ones with these keys, one at a time: the new one first, as for an upgrade.
   * `during`: carries out each stop.
   */
  async function replace(
    kind: Kind,
    keys: Record<string, string>,
    during = (stop: () => Promise<void>) => stop(),
  ): Promise<void> {
    for (const one of [...replaced[kind]]) {
      await startWith(kind, keys);
      await during(async () => {
        one.kill('SIGTERM');
        await until('it has ended', () => one.ended());
      });
      expect(one.ended()).toMatch(/^0: /);
      if (kind !== 'worker') balancers[kind].remove(one);
      replaced[kind].splice(replaced[kind].indexOf(one), 1);
    }
  }

  const KINDS = Object.keys(PROCESSES) as Kind[];

  beforeAll(async () => {
    stack = await own.start();
    const variables = readVariables(own.data_dir);
    old = Object.fromEntries(Object.keys(NEW).map((name) => [name, variables[name]!])) as typeof old;
    await Promise.all(
      KINDS.map(async (kind) => {
        for (let n = 0; n < PROCESSES[kind]; n += 1) await startWith(kind, keysOf(old));
      }),
    );
    stack = { ...stack, api_url: balancers.api.url, manage_url: balancers.manage.url };
  });
  afterAll(async () => {
    await Promise.all(KINDS.flatMap((kind) => replaced[kind].map((one) => one.stop())));
    await own.discard();
  });

  /** What the processor posts when there are settlements, signed with a secret. */
  async function notify(secret: string): Promise<Response> {
    const [id, now, body] = [`msg_${randomBytes(8).toString('hex')}`, new Date(), '{"type":"settlements.created"}'];
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    };
    return await fetch(`${stack.api_url}/processor/notifications/`, { method: 'POST', headers, body });
  }

  test('rules 24.23: every key is replaced in two steps while processes are replaced one at a time: no request fails', async () => {
    const merchant = new Merchant(stack);
    const transactions = [await merchant.cardTransaction('approved')];
    /** Requests sent again after a 503, the answer of a busy machine: a wrong key is answered otherwise. */
    let repeated = 0;
    const untilServed = async <Answer extends { status: number }>(send: () => Promise<Answer>) =>
      await until('it is answered', async () => {
        const answer = await send();
        if (answer.status !== 503) return answer;
        repeated += 1;
        return undefined;
      });
    const create = async (fields: object, status: string) => {
      const request = {
        body: { currency: 'EUR', amount: 1_250, ...fields },
        headers: { 'idempotency-key': newIdempotencyKey() },
      };
      const answer = await untilServed(() => merchant.send<Order>('POST', '/v1/orders/', request));
      const order = await merchant.untilOutcomeKnown(answer.body);
      const result = order.status === status ? 'ok' : `${answer.status} ${JSON.stringify(order).slice(0, 300)}`;
      return { id: order.id, result };
    };
    const openPage = async () => {
      const { id } = await create({ return_url: 'https://shop.example/', failure_url: 'https://shop.example/' }, 'new');
      const customer = new Client(stack.api_url);
      const form = { ...CARD, ...(await customer.openPage({ id })) };
      return async () => String((await customer.payWithForm(`/pay/${id}/`, form)).status);
    };
    let signing = old.PROCESSOR_NOTIFICATION_SECRET;
    const project = await (await Operator.signIn(stack)).aProject();
    const load: Record<string, () => Promise<string>> = {
      pay: async () => (await create({ transactions }, 'completed')).result,
      page: async () => await (await openPage())(),
      // The bearer-token host makes the key, and an API authenticates it.
      key: async () => {
        const operator = await Operator.signIn(stack);
        const key = await operator.aKey(project);
        const { status } = await new Merchant(stack, key.key).send('GET', '/v1/merchants/self/projects/self/');
        await operator.revoke(key);
        return String(status);
      },
      // As the processor does.
      notification: async () => String((await untilServed(() => notify(signing))).status),
    };
    const results: Record<string, number> = {};
    let is_over = false;
    const sending = Object.entries(load).map(async ([what, send]) => {
      while (!is_over) {
        const result = await send().catch((error: Error) => `${new Date().toISOString()} ${inspect(error)}`);
        results[`${what} ${result}`] = (results[`${what} ${result}`] ?? 0) + 1;
        await sleep(PAUSE_MS);
      }
    });
    const submitOldForm = await openPage();
    try {
      // All processes accept the new keys, then they use them. Then nothing of before needs the old ones of the page.
      await Promise.all(KINDS.map((kind) => replace(kind, keysOf(old, NEW))));
      signing = NEW.PROCESSOR_NOTIFICATION_SECRET;
      await Promise.all(KINDS.map((kind) => replace(kind, keysOf(NEW, old))));
    } finally {
      is_over = true;
      await Promise.all(sending);
    }
    expect(await submitOldForm()).toBe('303');
    const counts = Object.keys(results).toSorted();
    if (process.env['ROTATION'] !== undefined) {
      process.stdout.write(`${JSON.stringify(results)}\n`);
      expect(repeated).toBe(0);
    }
    expect(counts).toEqual(['key 200', 'notification 200', 'page 303', 'pay ok']);
    const used = await recordRows<{ secret_key_id: string }>(
      'select distinct secret_key_id from api_keys where project_id = :id order by 1',
      { id: project.id },
      stack,
    );
    expect(used.map(({ secret_key_id }) => secret_key_id)).toContain('next');
    const PAYLOAD_KEYS = `${NEW.PAYLOAD_KEYS},${old.PAYLOAD_KEYS}`;
    const checks = await answerOfAdmin<{ check: string; note?: string }[]>(['doctor'], {
      data_dir: own.data_dir,
      env: { PAYLOAD_KEYS, SECRET_KEYS: `${NEW.SECRET_KEYS},${old.SECRET_KEYS}` },
    });
    expect(checks.find(({ check }) => check === 'payload key use')?.note).toMatch(/^next: in use; \w+: in use$/);
    await until('every webhook is delivered', async () => {
      const [open] = await recordRows<{ count: number }>(
        `select count(*) from webhook_deliveries where status <> 'delivered'`,
        {},
        stack,
      );
      return open!.count === 0;
    });
    expect(receiver.received.length).toBeGreaterThan(results['pay ok']!);
  }, 300_000);

  test('rules 24.25: a worker is replaced while eight requests are under way at a time: none fails', async () => {
    const merchant = new Merchant({ ...stack, api_url: replaced.api[0]!.url });
    const answers: Record<string, number> = {};
    let answered = 0;
    const eightMore = async () => {
      const before = answered;
      await until('eight more are answered', () => answered >= before + 8);
    };
    // Only stops are of interest: a worker starts without requests, which would take all cores meanwhile.
    const underLoad = async (stop: () => Promise<void>) => {
      let is_over = false;
      const clients = Array.from({ length: 8 }, async () => {
        while (!is_over) {
          // Without an Idempotency-Key nothing is begun shortly before the deadline (rules 10.5).
          const { status } = await merchant.send('POST', '/v1/orders/', { body: { currency: 'EUR', amount: 1_250 } });
          answers[status] = (answers[status] ?? 0) + 1;
          answered += 1;
        }
      });
      try {
        await eightMore();
        await stop();
        await eightMore();
      } finally {
        is_over = true;
        await Promise.all(clients);
      }
    };
    await replace('worker', keysOf(old, NEW), underLoad);
    expect(answers).toEqual({ 200: expect.any(Number) as number });
  }, 120_000);
});
