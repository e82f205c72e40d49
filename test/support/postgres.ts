import { rmSync } from 'node:fs';
import path from 'node:path';
import { connectDatabase } from '../../src/db/connection';
import { choosePorts } from '../../src/stack/ports';
import { keepRunning } from '../../src/stack/programs/program';
import { silent } from '../../src/stack/progress';
import { preparePostgres } from '../../src/stack/servers/postgres';
import { serverFolder } from './server-folder';
import { until } from './until';

/** A PostgreSQL of a test's own, so that it can be killed. */
export interface OwnPostgres {
  url: string;
  /** As kill -9 does; it is started again, and this resolves when it answers. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const data_dir = serverFolder('postgres');
  const { port = 0 } = await choosePorts([{ variable: 'port', host: '127.0.0.1', port: 0 }]);
  const server = { data_dir, log_file: path.join(data_dir, 'log'), port, password: 'a-test-only' };
  const url = `postgres://postgres:${server.password}@127.0.0.1:${port}/postgres`;
  let pid = 0;
  const kept = keepRunning(await preparePostgres(server, silent), {
    started: (started) => (pid = started),
    ended: () => undefined,
  });
  await kept.ready;
  const answers = async () => {
    const db = connectDatabase(url, { pool_max: 1, quiet: true });
    try {
      await db.raw('select 1');
      return true;
    } catch {
      return false;
    } finally {
      await db.destroy();
    }
  };
  return {
    url,
    async kill() {
      const killed = pid;
      process.kill(killed, 'SIGKILL');
      await until('PostgreSQL answers again', async () => pid !== killed && (await answers()));
    },
    async close() {
      await kept.stop();
      rmSync(data_dir, { recursive: true, force: true });
    },
  };
}
