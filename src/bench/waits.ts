import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '../db/connection';
import { insertApiKey, newApiKey } from '../db/projects/api-keys';
import { severalAtOnce } from '../domain/several-at-once';
import { SecretKeys } from '../secrets';
import { MEMORY_PATH } from './held-memory';
import { durationsAtPace, quantile } from './figures';
import { cpuMilliseconds, memoryMiB } from './processes';
import { createApiClient, insertProjects } from './merchant';
import { machine, table } from './report';
import type { BenchStack } from './stack';

/** How many requests wait, at most 100 of a project; and how many orders change meanwhile, at which pace. */
interface WaitsPlan {
  waiting: number;
  changes: number;
  pause_ms: number;
}

const PER_PROJECT = 100;
const CREATED_AT_ONCE = 16;
/** Until the connections are open and the memory is that of waiting. Milliseconds. */
const WARM_UP_MS = 8_000;
/** Over which the CPU time of waiting is measured. */
const IDLE_MS = 10_000;

interface Order {
  id: string;
  status: string;
  modified: string;
}

/**
 * Measures requests with `Prefer: wait=60`: how long after a move its request is answered, and what a waiting request
 * costs. Returns the figures as Markdown.
 */
export async function measureWaits(stack: BenchStack, plan: WaitsPlan, say: (text: string) => void): Promise<string> {
  const { facts } = stack;
  const client = createApiClient(stack, { headersTimeout: 0 });
  const send = async (
    api_key: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    rest: { headers?: Record<string, string>; body?: object } = {},
  ) => {
    const answer = await client.send(method, path, { api_key, ...rest });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text) as Order;
  };
  const pids = { api: facts.pids['api']!, postgres: facts.pids['postgres']! };
  try {
    const keys = await createProjects(stack, Math.ceil(plan.waiting / PER_PROJECT));
    say(`creating ${plan.waiting} orders`);
    const orders = await severalAtOnce(CREATED_AT_ONCE, Array.from({ length: plan.waiting }), async (_, n) => {
      const key = keys[Math.floor(n / PER_PROJECT)]!;
      return { ...(await send(key, 'POST', '/v1/orders/', { body: { currency: 'EUR', amount: 1_250 } })), key };
    });
    await sleep(WARM_UP_MS);
    const heldMemory = async () => {
      const answer = await client.send('GET', MEMORY_PATH);
      return ((await answer.body.json()) as { bytes: number }).bytes;
    };
    const [held_without, without] = [await heldMemory(), memoryMiB(pids)['api']!];
    say(`${plan.waiting} requests wait`);
    const answered: number[] = [];
    const answers = orders.map(async ({ id, key }) => {
      const { status, modified } = await send(key, 'GET', `/v1/orders/${id}/`, { headers: { prefer: 'wait=60' } });
      // From before the statement that moves the order to the whole answer.
      if (status === 'cancelled') answered.push(Date.now() - Date.parse(modified));
    });
    await sleep(WARM_UP_MS);
    const beside = memoryMiB(pids)['api']!;
    const held = (await heldMemory()) - held_without;
    const before = cpuMilliseconds(pids);
    await sleep(IDLE_MS);
    const after = cpuMilliseconds(pids);
    say(`${plan.changes} orders change`);
    const cancel = (n: number) => send(orders[n]!.key, 'DELETE', `/v1/orders/${orders[n]!.id}/`);
    await durationsAtPace(cancel, { count: plan.changes, pause_ms: plan.pause_ms });
    await Promise.all(answers);
    const cpu = (name: 'api' | 'postgres') => ((after[name]! - before[name]!) / IDLE_MS) * 1_000;
    return [
      `${machine()}. ${plan.waiting} requests wait; ${answered.length} of their orders are cancelled, one every ${plan.pause_ms} ms.`,
      table(
        ['', 'reached'],
        [
          ['from the move to the answer, p50 ms', quantile(answered, 0.5).toFixed(0)],
          ['from the move to the answer, p99 ms', quantile(answered, 0.99).toFixed(0)],
          ['memory that the api holds for each waiting request, KiB', (held / plan.waiting / 1_024).toFixed(1)],
          [
            'growth of its resident memory, garbage included, KiB',
            (((beside - without) * 1_024) / plan.waiting).toFixed(1),
          ],
          ['CPU of the api while nothing changes, ms a second', cpu('api').toFixed(0)],
          ['CPU of Postgres while nothing changes, ms a second', cpu('postgres').toFixed(0)],
        ],
      ),
    ].join('\n\n');
  } finally {
    await client.close();
  }
}

/** Projects of their own, each with a key. */
async function createProjects({ facts, variables }: BenchStack, count: number): Promise<string[]> {
  const secrets = new SecretKeys(variables['SECRET_KEYS'] ?? '');
  return await withDatabase(facts.postgres_url, async (db) => {
    const keys: string[] = [];
    for (const id of await insertProjects({ db, secrets }, 'Waits', count)) {
      const key = newApiKey({ is_test: true });
      await insertApiKey({ db, secrets }, id, key, new Date());
      keys.push(key);
    }
    return keys;
  });
}
