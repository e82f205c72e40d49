import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { checkWritable, connectDatabase, isUnavailable, queryRows, type Database } from '../../../src/db/connection';
import { migrate } from '../../../src/db/migrate';
import { removeData } from '../../../src/stack/launch';
import { choosePorts } from '../../../src/stack/ports';
import { keepRunning, type Kept } from '../../../src/stack/programs/program';
import { silent } from '../../../src/stack/progress';
import { preparePostgres } from '../../../src/stack/servers/postgres';
import { serverFolder } from '../../support/stack';
import { until } from '../../support/waits';

const PASSWORD = 'a-test-only';

interface Server {
  port: number;
  url: string;
  /** PostgreSQL's own data folder. */
  data: string;
  start(): Promise<Kept>;
}

/** A server of PostgreSQL with a new data folder, which does not run yet. */
async function prepareServer(data_dir: string): Promise<Server> {
  mkdirSync(data_dir);
  const { port = 0 } = await choosePorts([{ variable: 'port', host: '127.0.0.1', port: 0 }]);
  const server = { data_dir, log_file: path.join(data_dir, 'postgres.log'), port, password: PASSWORD };
  const program = await preparePostgres(server, silent);
  return {
    port,
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/payments`,
    data: program.cwd,
    start: async () => {
      const kept = keepRunning(program, { started: () => undefined, ended: () => undefined });
      await kept.ready;
      return kept;
    },
  };
}

/** Makes the second server a standby of the first, which runs, by a base backup of its files. */
async function copyAsStandby(primary: Database, first: Server, second: Server): Promise<void> {
  await primary.raw(`select pg_create_physical_replication_slot('standby', true)`);
  await primary.raw(`select pg_backup_start('standby', true)`);
  rmSync(second.data, { recursive: true });
  execFileSync('cp', ['-a', first.data, second.data]);
  const { rows } = (await primary.raw('select labelfile from pg_backup_stop()')) as { rows: { labelfile: string }[] };
  rmSync(path.join(second.data, 'postmaster.pid'));
  const connection = `host=127.0.0.1 port=${first.port} user=postgres password=${PASSWORD}`;
  const { uid, gid } = statSync(first.data);
  for (const [name, text] of [
    ['backup_label', rows[0]!.labelfile],
    ['standby.signal', ''],
    ['postgresql.auto.conf', `primary_conninfo = '${connection}'\nprimary_slot_name = 'standby'\n`],
  ] as const) {
    const file = path.join(second.data, name);
    writeFileSync(file, text);
    chownSync(file, uid, gid);
  }
}

/** The address that the service knows: connections lead to the server that is the primary when they are opened. */
async function startAddress(port: number) {
  const address = { port, close: () => server.close() };
  const server = net.createServer((socket) => {
    const upstream = net.connect(address.port, '127.0.0.1');
    for (const one of [socket, upstream]) one.on('error', () => undefined);
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${(server.address() as net.AddressInfo).port}/payments`;
  return { ...address, url, leadTo: (to: number) => (address.port = to) };
}

test('rules 2.7: a standby is promoted while the old primary stays up read-only: writes go on without a restart', async () => {
  const folder = serverFolder('failover');
  const places = ['first', 'second'].map((name) => path.join(folder, name));
  const opened: Database[] = [];
  const running: Kept[] = [];
  const open = (url: string, pool_max = 1) => {
    const db = connectDatabase(url, { pool_max, quiet: true });
    opened.push(db);
    return db;
  };
  try {
    const [first, second] = [await prepareServer(places[0]!), await prepareServer(places[1]!)];
    running.push(await first.start());
    await migrate(first.url);
    const primary = open(first.url);
    await copyAsStandby(primary, first, second);
    running.push(await second.start());
    const standby = open(second.url);
    await expect(checkWritable(standby)).rejects.toThrow('is read-only');

    const address = await startAddress(first.port);
    const service = open(address.url, 4);
    const write = (id: string) =>
      queryRows(service, `insert into request_claims (request_id, is_withdrawn) values (:id, false)`, { id });
    const ids = Array.from({ length: 4 }, (_, n) => `00000000-0000-4000-8000-00000000000${n}`);
    await Promise.all(ids.slice(0, 3).map(write));
    await until('the standby has the rows', async () => {
      const [found] = await queryRows<{ count: number }>(standby, 'select count(*) from request_claims', {});
      return found!.count === 3;
    });

    await primary.raw('alter system set default_transaction_read_only = on');
    await primary.raw('select pg_reload_conf()');
    await standby.raw('select pg_promote()');
    address.leadTo(second.port);
    // One statement finds out; then no connection to the old primary is used again.
    const refused = await until('the old primary refuses to write', () =>
      write(ids[3]!).then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    expect(isUnavailable(refused)).toBe(true);
    await checkWritable(service);
    await Promise.all(['a', 'b', 'c', 'd'].map((end) => write(`00000000-0000-4000-8000-00000000001${end}`)));
    address.close();
  } finally {
    await Promise.all(opened.map((db) => db.destroy()));
    await Promise.all(running.map((kept) => kept.stop()));
    for (const place of places) removeData(place);
    rmSync(folder, { recursive: true, force: true });
  }
});
