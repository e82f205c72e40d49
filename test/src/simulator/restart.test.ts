import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { withDatabase } from '../../../src/db/connection';
import { createProcessorClient, type Processor } from '../../../src/processor/client';
import { freePort } from '../../../src/stack/ports';
import { untilLocked } from '../../support/database';
import { CARDS } from '../../support/domain';
import { callSimulator, postControl } from '../../support/stack';
import { A_CARD, CONTROL_KEY, dropDatabase, KEY, ownDatabase } from './support';

/** The built process of src/main (`npm test` builds first), as `npm start` runs it. */
const MAIN = path.resolve(__dirname, '../../../dist/src/main/simulator.js');

const postgres_url = ownDatabase();
/** The simulator's connections, through a server of the test that can break them. */
const connections = new Set<net.Socket>();
const between = net.createServer((socket) => {
  const { hostname, port: postgres_port } = new URL(postgres_url);
  const upstream = net.connect(Number(postgres_port), hostname);
  connections.add(socket.on('error', () => undefined).on('close', () => upstream.destroy()));
  upstream.on('error', () => undefined).on('close', () => socket.destroy());
  socket.pipe(upstream).pipe(socket);
});
let port: number;
let child: ChildProcess;
let processor: Processor;

function through(url: string): string {
  const address = new URL(url);
  address.host = `127.0.0.1:${(between.address() as net.AddressInfo).port}`;
  return address.href;
}

async function start(): Promise<void> {
  child = fork(MAIN, {
    env: {
      ...process.env,
      SIMULATOR_POSTGRES_URL: through(postgres_url),
      SIMULATOR_PORT: String(port),
      SIMULATOR_PAGE_PORT: '0',
      SIMULATOR_CONTROL_KEY: CONTROL_KEY,
      PROCESSOR_KEY: KEY,
      LOG_LEVEL: 'silent',
    },
    execArgv: [],
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => ['it ended']),
  ])) as unknown[];
  expect(message).toEqual({ ready: true });
}

beforeAll(async () => {
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  // One that no outgoing connection takes while the simulator is down.
  port = await freePort();
  processor = createProcessorClient({ url: `http://127.0.0.1:${port}`, key: KEY, timeout_ms: 5_000 });
  await start();
});
afterAll(async () => {
  await processor.close();
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
  between.close();
  await dropDatabase(postgres_url);
});

const IDS = {
  order_id: '0b1b8c1e-54a4-4b7c-9a8e-0f4f2f7f3c11',
  project_id: '5d3b8f0a-7b7e-4a63-8a8f-2f5b7f1c9d22',
  is_test: true,
};

const place = () => ({ simulator_url: `http://127.0.0.1:${port}`, simulator_control_key: CONTROL_KEY });

async function charge(card: keyof typeof CARDS, n: number) {
  const vaulted = await processor.vaultCard({ ...A_CARD, ...IDS, number: CARDS[card].number });
  const transaction_id = `7f000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  return {
    ...IDS,
    operation: 'sale' as const,
    transaction_id,
    amount: 100,
    currency: 'EUR',
    vault_token: (vaulted as { vault_token: string }).vault_token,
  };
}

test('kill -9 in the middle of charges: what was answered stays, what was not is found or never happened, and no key has two rows', async () => {
  const charges = [];
  for (let n = 0; n < 24; n += 1) charges.push(await charge(n % 2 ? 'approved' : 'processing_approved', n));
  const answering = charges.map((each) => processor.execute(each, each.transaction_id));
  await Promise.any(answering);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const answers = await Promise.all(answering);
  await start();

  for (const [i, each] of charges.entries()) {
    const before = answers[i] as (typeof answers)[number];
    const asked = await processor.findOperation(each.transaction_id, {});
    if (before !== 'unknown') expect(asked).toEqual(before);
    const again = await processor.execute(each, each.transaction_id);
    expect(again).toMatchObject({ idempotency_key: each.transaction_id });
    if (asked !== 'not_found') expect(again).toEqual(asked);
  }
  const ledger = (await (await callSimulator(place(), `/ledger/?order_id=${IDS.order_id}`)).json()) as object[];
  expect(ledger).toHaveLength(charges.length);
});

test('a connection that breaks inside a transaction fails that call alone', async () => {
  const settle = () => postControl(place(), 'settlements', {}).then(({ status }) => status, String);
  const outcome = await withDatabase(
    postgres_url,
    async (db) => {
      const holder = await db.transaction();
      await holder.raw('lock table operations in access exclusive mode');
      const settling = settle();
      await untilLocked('a transaction waits', db);
      for (const socket of connections) socket.destroy();
      await holder.rollback();
      return await settling;
    },
    { pool_max: 3 },
  );
  expect(outcome).not.toContain('fetch failed');
  expect([child.exitCode, await settle()]).toEqual([null, 201]);
});
