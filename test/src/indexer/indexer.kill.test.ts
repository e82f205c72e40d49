import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { checkSearchIndex } from '../../../activities/search-index';
import { withDatabase } from '../../../src/db/connection';
import { queryRows } from '../../../src/db/query';
import { repositoryRoot } from '../../../src/stack/files';
import { freePort } from '../../../src/stack/ports';
import { keepRunning } from '../../../src/stack/programs/program';
import { silent } from '../../../src/stack/progress';
import { preparePostgres } from '../../../src/stack/servers/postgres';
import { writeOrders } from '../../support/rows';
import { aSearchWorld } from '../../support/search';
import { someOrders } from '../../support/search-orders';
import { setUp } from '../../support/set-up';
import { copyPostgres, POSTGRES_PASSWORD, serverFolder } from '../../support/stack';
import { until } from '../../support/waits';

const postgres = setUp(() => startOwnPostgres());
const world = setUp(() => aSearchWorld({ postgres_url: postgres.url }));

/** As if so much time had passed since whoever has the lease kept it. */
const endLease = () => queryRows(world.db, 'update leases set expires_at = clock_timestamp()');

it('rules 20.12: nothing is missing after kill -9 of Meilisearch, of the indexer and of Postgres, in mid-index', async () => {
  let indexer = anIndexerProcess();
  try {
    const orders = someOrders(240, 7);
    for (let begin = 0; begin < orders.length; begin += 20) {
      await writeOrders(world.db, orders.slice(begin, begin + 20));
      await queryRows(world.db, 'update orders set version = version + 1, description = :text where random() < 0.3', {
        text: `batch ${begin}`,
      });
      const victim = (begin / 20) % 4;
      if (victim === 0) {
        await world.server.kill();
        await world.server.start();
      } else if (victim === 1) {
        indexer.kill('SIGKILL');
        await endLease();
        indexer = anIndexerProcess();
      } else if (victim === 2) {
        await postgres.kill();
        // The pool finds out one by one that its connections are gone.
        const answers = () => queryRows(world.db, 'select 1').then(Boolean, () => false);
        await until('Postgres answers', answers);
      }
    }
    // This time nobody ends the lease of the one that is killed.
    indexer.kill('SIGKILL');
    indexer = anIndexerProcess();
    await world.indexed();
    const check = await checkSearchIndex({ db: world.db, index: world.writer });
    expect(check).toMatchObject({ orders: 240, missing: 0, different: 0, unknown: 0, refused: 0 });
  } finally {
    indexer.kill('SIGKILL');
  }
});

/** The indexer in a process of its own, from what `npm run build` has made, so that it can be killed. */
const PROGRAM = `
  const { connectDatabase, LIMITS } = require('./dist/src/db/connection');
  const { Indexer } = require('./dist/src/indexer/indexer');
  const { SearchWriter } = require('./dist/src/search/writer');
  const [, postgres_url, url, master_key] = process.argv;
  new Indexer({
    db: connectDatabase(postgres_url, { limits: LIMITS, quiet: true }),
    index: new SearchWriter({ url, master_key }),
    log: require('pino')({ level: 'silent' }),
  }).start();
  process.on('disconnect', () => process.exit());
`;

function anIndexerProcess() {
  const args = ['-e', PROGRAM, world.url, world.server.url, world.server.master_key ?? ''];
  return spawn(process.execPath, args, { cwd: repositoryRoot(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** A PostgreSQL of a test's own, so that it can be killed. */
interface OwnPostgres {
  url: string;
  /** As kill -9 does; it is started again, and this resolves when it answers. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

async function startOwnPostgres(): Promise<OwnPostgres> {
  const data_dir = serverFolder('postgres');
  const port = await freePort();
  copyPostgres(data_dir);
  const server = { data_dir, log_file: path.join(data_dir, 'log'), port, password: POSTGRES_PASSWORD };
  const url = `postgres://postgres:${server.password}@127.0.0.1:${port}/postgres`;
  let pid = 0;
  const kept = keepRunning(await preparePostgres(server, silent), {
    started: (started) => (pid = started),
    ended: () => undefined,
  });
  await kept.ready;
  const answers = () =>
    withDatabase(url, (db) => db.raw('select 1')).then(
      () => true,
      () => false,
    );
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
