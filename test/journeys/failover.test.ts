import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { setServerSettings } from '../../src/bench/server-settings';
import { listOrders } from '../../src/client';
import { parseConfig, type Config } from '../../src/config';
import { checkWritable } from '../../src/db/availability';
import { connectDatabase, withDatabase } from '../../src/db/connection';
import { queryRows, type Database } from '../../src/db/query';
import type { Logger } from '../../src/log';
import { serveApi } from '../../src/processes/serve-api';
import { serveManage } from '../../src/processes/serve-manage';
import { readFacts, readVariables, removeData } from '../../src/stack/launch';
import { freePort } from '../../src/stack/ports';
import { keepRunning, type Kept } from '../../src/stack/programs/program';
import { silent } from '../../src/stack/progress';
import { preparePostgres } from '../../src/stack/servers/postgres';
import { withDatabaseName } from '../support/database';
import { Merchant } from '../support/merchant';
import { startProcess } from '../support/process';
import {
  copyPostgres,
  idle,
  OwnStack,
  POSTGRES_PASSWORD,
  serverFolder,
  stack,
  type RunningStack,
} from '../support/stack';
import { inNamespace } from '../support/temporal-client';
import { until } from '../support/waits';

/** A stack whose Postgres is a primary with a synchronous standby, over TLS, at an address that moves. */

/** By which the address in POSTGRES_URL is verified. */
const folder = serverFolder('failover-servers');
const certificate = path.join(folder, 'server.crt');
const password_file = path.join(folder, 'password');

interface Server {
  name: string;
  port: number;
  /** PostgreSQL's own data folder. */
  data: string;
  start(): Promise<void>;
}

const running: Kept[] = [];

/** A server of PostgreSQL with a new data folder, which does not run yet. */
async function prepareServer(name: string): Promise<Server> {
  const data_dir = path.join(folder, name);
  mkdirSync(data_dir);
  const port = await freePort();
  copyPostgres(data_dir);
  const server = { data_dir, log_file: path.join(data_dir, 'postgres.log'), port, password: POSTGRES_PASSWORD };
  const program = await preparePostgres(server, silent);
  return {
    name,
    port,
    data: program.cwd,
    async start() {
      const kept = keepRunning(program, { started: () => undefined, ended: () => undefined });
      running.push(kept);
      await kept.ready;
    },
  };
}

const urlOf = (port: number, { password = POSTGRES_PASSWORD, sslmode = 'verify-full' } = {}) =>
  `postgres://postgres:${password}@127.0.0.1:${port}/payments?sslmode=${sslmode}&sslrootcert=${certificate}`;

/** Writes files into the data folder, for the user of the server. */
function writeData({ data }: Server, files: Record<string, string>): void {
  const { uid, gid } = statSync(data);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(data, name);
    appendFileSync(file, text);
    chownSync(file, uid, gid);
    chmodSync(file, 0o600);
  }
}

/** Has the server take connections over TLS only. */
function requireTls(server: Server): void {
  const key = path.join(folder, 'server.key');
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = ['-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...made], {
    stdio: 'ignore',
  });
  rmSync(path.join(server.data, 'pg_hba.conf'));
  writeData(server, {
    'server.crt': readFileSync(certificate, 'utf8'),
    'server.key': readFileSync(key, 'utf8'),
    'pg_hba.conf': 'hostssl all all 127.0.0.1/32 scram-sha-256\nhost replication all 127.0.0.1/32 scram-sha-256\n',
    'postgresql.conf': '\nssl = on\n',
  });
}

/** Makes the second server a standby of the first, which runs, by a base backup of its files. */
async function copyAsStandby(primary: Database, first: Server, second: Server): Promise<void> {
  await primary.raw(`select pg_create_physical_replication_slot('standby', true)`);
  await primary.raw(`select pg_backup_start('standby', true)`);
  rmSync(second.data, { recursive: true });
  execFileSync('cp', ['-a', first.data, second.data]);
  const { rows } = (await primary.raw('select labelfile from pg_backup_stop()')) as { rows: { labelfile: string }[] };
  rmSync(path.join(second.data, 'postmaster.pid'));
  const connection = `host=127.0.0.1 port=${first.port} user=postgres password=${POSTGRES_PASSWORD} sslmode=disable`;
  writeData(second, {
    backup_label: rows[0]!.labelfile,
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = '${connection}'\nprimary_slot_name = 'standby'\n`,
  });
}

/** The address that the service knows: connections lead to the server that is the primary when they are opened. */
async function startAddress(port: number) {
  let to = port;
  const server = net.createServer((socket) => {
    const upstream = net.connect(to, '127.0.0.1');
    for (const one of [socket, upstream]) one.on('error', () => undefined);
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    leadTo: (next: number) => (to = next),
    close: () => server.close(),
  };
}

let first: Server;
let second: Server;
let address: Awaited<ReturnType<typeof startAddress>>;
let primary: Database;
let standby: Database;
let running_stack: RunningStack;
const own = new OwnStack(
  'failover',
  async () => ({
    ...(await inNamespace('failover')),
    POSTGRES_URL: urlOf(address.port),
    SIMULATOR_POSTGRES_URL: withDatabaseName(stack().postgres_url, `failover_${process.pid}`),
  }),
  idle('manage'),
);

beforeAll(async () => {
  [first, second] = [await prepareServer('first'), await prepareServer('second')];
  requireTls(first);
  await first.start();
  await withDatabase(withDatabaseName(urlOf(first.port), 'postgres'), async (made) => {
    await made.raw('create database payments');
    await copyAsStandby(made, first, second);
  });
  await second.start();
  primary = connectDatabase(urlOf(first.port), { pool_max: 1, quiet: true });
  standby = connectDatabase(urlOf(second.port), { pool_max: 1, quiet: true });
  // No commit is confirmed before the standby has it.
  await setServerSettings(primary, { synchronous_standby_names: '*' });
  address = await startAddress(first.port);
  running_stack = await own.start();
});

afterAll(async () => {
  try {
    await own.discard();
  } finally {
    await Promise.all([primary, standby].map((db) => db?.destroy()));
    address?.close();
    await Promise.all(running.map((kept) => kept.stop()));
    for (const server of [first, second]) removeData(path.join(folder, server.name));
    rmSync(folder, { recursive: true, force: true });
  }
});

test('rules 24.22: connections use TLS; the password is read from its file again when it has changed', async () => {
  writeFileSync(password_file, 'an-old-one\n');
  const db = connectDatabase(urlOf(first.port, { password: '' }), { pool_max: 1, quiet: true, password_file });
  await expect(db.raw('select 1')).rejects.toThrow('password authentication failed');
  writeFileSync(password_file, `${POSTGRES_PASSWORD}\n`);
  const [session] = await queryRows(db, 'select ssl from pg_stat_ssl where pid = pg_backend_pid()');
  expect(session).toEqual({ ssl: true });
  await db.destroy();
  const plain = withDatabase(urlOf(first.port, { sslmode: 'disable' }), (other) => other.raw('select 1'));
  await expect(plain).rejects.toThrow('no encryption');
});

type Start = (env: Record<string, string>) => Promise<unknown>;
const here =
  (serve: (config: Config, log: Logger) => Promise<unknown>): Start =>
  (env) =>
    serve(parseConfig({ ...process.env, ...readVariables(stack().data_dir), ...env }), pino({ enabled: false }));

test.each<[name: string, start: Start]>([
  ['api', here(serveApi)],
  ['manage', here(serveManage)],
  // As a process of its own, which also ends: in this one it would install Temporal's runtime.
  ['worker', (env) => startProcess('worker', { env })],
])('rules 24.22: %s does not start on a standby', async (_name, start) => {
  await expect(checkWritable(standby)).rejects.toThrow('is read-only');
  const env = { POSTGRES_URL: urlOf(second.port), METRICS_PORT: '' };
  await expect(start(env)).rejects.toThrow('POSTGRES_URL leads to a standby');
});

/** From when the address has moved until the first payment is accepted. Milliseconds. */
const WRITES_WITHIN_MS = 60_000;

test('rules 2.7: a standby is promoted while the old primary stays up read-only: payments go on without a restart', async () => {
  const merchant = new Merchant(running_stack);
  const { pids } = readFacts(own.data_dir);
  const transactions = [await merchant.cardTransaction('approved')];
  const pay = async () => {
    const { status, body } = await merchant.send<{ id: string; status: string }>('POST', '/v1/orders/', {
      body: { currency: 'EUR', amount: 1_250, transactions },
    });
    return status === 200 && body.status === 'completed' && body.id;
  };
  const paid: string[] = [];
  let is_over = false;
  const paying = Array.from({ length: 3 }, async () => {
    while (!is_over) {
      const id = await pay();
      if (id !== false) paid.push(id);
      await sleep(200);
    }
  });
  // Lists have connections of their own, which never write.
  const listed = async () => {
    const { data } = await listOrders({}, merchant.project);
    return Array.isArray(data) ? data.map(({ id }) => id) : [];
  };
  await until('some orders are paid and listed', async () => paid.length > 5 && (await listed()).length > 5);

  await setServerSettings(primary, { default_transaction_read_only: 'on' });
  await standby.raw('select pg_promote()');
  address.leadTo(second.port);
  const before = new Set(paid);
  const after = await until('payments go on', () => paid.find((id) => !before.has(id)), WRITES_WITHIN_MS);
  is_over = true;
  await Promise.all(paying);

  expect(await until('lists are of the new primary', async () => (await listed()).includes(after))).toBe(true);
  const [found] = await queryRows<{ count: number }>(
    standby,
    `select count(*) from orders where status = 'completed' and id = any(:paid::uuid[])`,
    { paid },
  );
  expect(found!.count).toBe(paid.length);
  expect(readFacts(own.data_dir).pids).toEqual(pids);
});
