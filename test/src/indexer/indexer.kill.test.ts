import { spawn } from 'node:child_process';
import path from 'node:path';
import { checkSearchIndex } from '../../../activities/search-index';
import { queryRows } from '../../../src/db/connection';
import { repositoryRoot } from '../../../src/stack/files';
import { startOwnPostgres, type OwnPostgres } from '../../support/postgres';
import { aSearchWorld, type SearchWorld } from '../../support/search';
import { someOrders, writeOrders } from '../../support/search-orders';
import { until } from '../../support/until';

let postgres: OwnPostgres;
let world: SearchWorld;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  world = await aSearchWorld({ postgres_url: postgres.url });
});
afterAll(async () => {
  await world.close();
  await postgres.close();
});

/** As if so much time had passed since whoever has the lease kept it. */
const endLease = () => queryRows(world.db, 'update leases set expires_at = clock_timestamp()', {});

it('rules 20.12: nothing is missing after kill -9 of Meilisearch, of the indexer and of Postgres, in mid-index', async () => {
  let indexer = anIndexerProcess();
  try {
    const orders = someOrders(400, 7);
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
        const answers = () => queryRows(world.db, 'select 1', {}).then(Boolean, () => false);
        await until('Postgres answers', answers);
      }
    }
    // This time nobody ends the lease of the one that is killed.
    indexer.kill('SIGKILL');
    indexer = anIndexerProcess();
    await world.indexed();
    const check = await checkSearchIndex({ db: world.db, index: world.writer });
    expect(check).toMatchObject({ orders: 400, missing: 0, different: 0, unknown: 0, refused: 0 });
  } finally {
    indexer.kill('SIGKILL');
  }
});

function anIndexerProcess() {
  const program = path.join(repositoryRoot(), 'test/support/index-changes.cjs');
  const args = [program, world.url, world.server.url, world.server.master_key ?? ''];
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}
