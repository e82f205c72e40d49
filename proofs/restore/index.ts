import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase, queryRows, type Database } from '../../src/db/connection';
import { storeSession } from '../../src/db/session';
import { repositoryRoot } from '../../src/stack/files';
import { OwnStack, type RunningStack } from '../../test/support/stack';
import { createTestProject } from '../../test/support/operator';
import { checkInvariants } from '../invariants';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';
import { runLoad } from '../support/load';
import { startFailingReceiver } from '../support/receivers';

/** `copied_after`: how far the load is when the copy is made, as a share. */
const SIZES: Record<Size, { orders: number; per_second: number; copied_after: number }> = {
  ci: { orders: 80, per_second: 4, copied_after: 0.4 },
  full: { orders: 1_000, per_second: 6, copied_after: 0.6 },
};
const MERCHANTS = 4;

export const restore: Proof = {
  name: 'restore',
  title:
    'After the record is restored from a copy of some time ago, reconciling it with the workflows and the processor loses no order and no money.',
  not_proved: [
    'The copy is one of the database, taken between two transactions; backup tools and their archives are not tried.',
    'What only the database knew since the copy: new merchants, projects and keys, changed fields of orders, pauses of webhooks.',
    'A Temporal that is restored too, or a processor that forgets its keys.',
  ],
  seeds: [1],
  in_ci: true,
  run,
};

async function run({ seed, size, say }: ProofInput): Promise<ProofOutcome> {
  const { orders, per_second, copied_after } = SIZES[size];
  const receiver = await startFailingReceiver(0);
  const own = new OwnStack('restore', () => ({ RATE_LIMIT_PER_SECOND: '0' }));
  try {
    const stack = await own.start();
    const { merchant } = await createTestProject({}, stack);
    const copied = sleep((orders / per_second) * 1_000 * copied_after).then(() => copyRecord(stack));
    const load = await runLoad({
      ...{ stack, seed, orders, per_second, say, merchants: MERCHANTS },
      ...{ webhook_url: receiver.url, processor_faults: 0 },
    });
    await copied;
    const before = await countOrders(stack);
    const began = performance.now();
    await restoreCopy(stack);
    const lost = before - (await countOrders(stack));
    say(`${lost} of ${before} orders are lost`);
    await own.ready();
    const violations: string[] = [];
    await admin(stack, 'restore', 'begin');
    await sleep(2_000);
    const { status } = await merchant.send('POST', '/v1/orders/', { body: {} });
    if (status !== 503) violations.push(`a new order is answered with ${status} during the restore`);
    const reconciled = await admin(stack, 'restore', 'reconcile');
    const again = await admin(stack, 'restore', 'reconcile');
    if (again['rewritten'] !== reconciled['rewritten']) violations.push('a second reconciliation writes more again');
    const open = reconciled['open'] as string[];
    await admin(stack, 'restore', 'end', ...(open.length > 0 ? ['--accept', 'for the proof'] : []));
    const seconds = Math.round((performance.now() - began) / 1_000);
    say(`reconciled ${JSON.stringify(reconciled)}; checking the invariants`);
    violations.push(...open);
    const after = await countOrders(stack);
    if (after !== before) violations.push(`${before} orders before the restore, ${after} after it`);
    violations.push(...(await checkInvariants(stack, { say })), ...load.unfinished);
    return {
      counts: {
        'orders, follow-up orders included': before,
        'lost by the restore': lost,
        'objects written again': Number(reconciled['rewritten']),
        'seconds from the restore to its end': seconds,
      },
      violations: violations.map((violation) => `seed ${seed}: ${violation}`),
    };
  } finally {
    await own.discard();
    await receiver.close();
  }
}

/** Runs a command of an operator; returns its JSON. */
async function admin(stack: RunningStack, ...args: string[]): Promise<Record<string, unknown>> {
  const program = path.join(repositoryRoot(), 'dist', 'src', 'main', 'admin.js');
  const env = { PATH: process.env['PATH'], DATA_DIR: stack.data_dir };
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--json', ...args], { env }).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`admin ${args.join(' ')}: ${error.stdout ?? ''}${error.stderr ?? error.message}`);
    },
  );
  return JSON.parse(stdout) as Record<string, unknown>;
}

const countOrders = async ({ postgres_url }: RunningStack) =>
  await withDatabase(postgres_url, async (db) => {
    const [row] = await queryRows<{ orders: number }>(db, 'select count(*)::int as orders from orders', {});
    return row!.orders;
  });

/** Copies the record's database. Its processes lose their connections for that long. */
async function copyRecord({ postgres_url }: RunningStack): Promise<void> {
  await withoutConnections(postgres_url, async (server) => {
    await server.raw('create database payments_copy template payments');
  });
}

/** Puts the copy in the place of the record's database. */
async function restoreCopy({ postgres_url }: RunningStack): Promise<void> {
  await withoutConnections(postgres_url, async (server) => {
    await server.raw('alter database payments rename to payments_lost');
    await server.raw('alter database payments_copy rename to payments');
  });
  // Time limits belong to the role in the database.
  await withDatabase(postgres_url, storeSession);
}

async function withoutConnections(postgres_url: string, work: (server: Database) => Promise<void>): Promise<void> {
  const url = new URL(postgres_url);
  url.pathname = '/postgres';
  await withDatabase(url.toString(), async (server) => {
    await server.raw('alter database payments with allow_connections false');
    await server.raw(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'payments'`);
    await sleep(200);
    await work(server);
    await server.raw('alter database payments with allow_connections true');
  });
}

async function withDatabase<T>(postgres_url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connectDatabase(postgres_url, { pool_max: 1, quiet: true });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
