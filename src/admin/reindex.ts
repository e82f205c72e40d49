import { setTimeout as sleep } from 'node:timers/promises';
import { checkSearchIndex } from '../../activities/search-index';
import type { Config } from '../config';
import { findCurrentBuild } from '../db/builds/current-build';
import { requestSearchRebuild, searchRebuild } from '../db/search/search-outbox';
import { createLogger } from '../log';
import { SearchWriter } from '../search/writer';
import { Indexer } from '../indexer/indexer';
import { buildOfService } from '../processes/build';
import { recordPool, searchServer } from '../processes/connections';

/** Milliseconds between two lines about how far a rebuild is. */
const TELL_MS = 2_000;

/**
 * Builds the search index anew while the current one answers, and prints how many rows it has; whichever process writes
 * to the index does it, this one where no worker runs. `check`: compares the index with the record row by row, has
 * written again what differs, and prints what it found.
 */
export async function reindex(config: Config, { check }: { check: boolean }): Promise<void> {
  const db = recordPool(config, {});
  const index = new SearchWriter(searchServer(config));
  try {
    if (check) {
      const found = await checkSearchIndex({ db, index });
      process.stdout.write(`${JSON.stringify(found)}\n`);
      return;
    }
    const { build } = buildOfService(config);
    const log = createLogger({ process: 'reindex', level: config.LOG_LEVEL });
    const indexer = new Indexer({ db, index, log, build });
    const current = await findCurrentBuild(db);
    if (current !== undefined && current.build !== build) {
      process.stderr.write(
        `reindex: left to the workers, as the current build is ${current.build ?? current.version}\n`,
      );
    }
    await requestSearchRebuild(db, Date.now());
    indexer.start();
    try {
      for (;;) {
        const rebuild = await searchRebuild(db);
        if (rebuild === undefined) break;
        process.stderr.write(`reindex: ${rebuild.orders ?? 0} orders written\n`);
        await sleep(TELL_MS);
      }
    } finally {
      await indexer.stop();
    }
    process.stderr.write(`reindex: the new index answers; it has ${await index.count()} rows\n`);
  } finally {
    await db.destroy();
  }
}
