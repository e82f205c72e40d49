import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { queryRows } from '../../../src/db/query';
import { repositoryRoot } from '../../../src/stack/files';
import { writeOrders } from '../../support/rows';
import { aSearchWorld } from '../../support/search';
import { someOrders } from '../../support/search-orders';
import { setUp } from '../../support/set-up';

const world = setUp(aSearchWorld);

const reindex = async (...args: string[]) => {
  const env = {
    ...process.env,
    POSTGRES_URL: world.url,
    MEILISEARCH_URL: world.server.url,
    MEILISEARCH_KEY: world.server.master_key,
  };
  return await promisify(execFile)(
    process.execPath,
    [path.join(repositoryRoot(), 'dist/src/main/admin.js'), 'reindex', ...args],
    { env },
  );
};

it('rules 20.18: builds the index where no worker runs, and compares it with the record', async () => {
  await writeOrders(world.db, someOrders(60, 247));
  const { stderr } = await reindex();
  const total = (
    await queryRows<{ rows: number }>(
      world.db,
      'select count(*) as rows from orders o left join transactions t on t.order_id = o.id',
    )
  )[0]!.rows;
  expect(stderr).toContain(`the new index answers; it has ${total} rows`);
  expect(JSON.parse((await reindex('--check')).stdout)).toEqual({
    orders: 60,
    rows: total,
    missing: 0,
    different: 0,
    unknown: 0,
    refused: 0,
  });
});
