import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkSearchIndex } from '../../activities/search-index';
import { parseConfig, required } from '../config';
import { connect } from '../db/connection';
import { requestSearchRebuild, searchRebuild } from '../db/search';
import { createLog } from '../log';
import { SearchWriter } from '../search/writer';
import { readVariables } from '../stack/launch';
import { Indexer } from './indexer';
import { searchServer } from './search-server';

/** Milliseconds between two lines about how far a rebuild is. */
const TELL_MS = 2_000;

/**
 * `npm run reindex`: builds the search index anew while the present one answers; whichever process writes to the index does it, this
 * one where no worker runs. `-- --check`: compares the index with the record row by row, and has written again what differs. Without
 * POSTGRES_URL both work on the stack that runs on DATA_DIR.
 */
async function main(): Promise<void> {
  const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const given = parseConfig(process.env);
  const config =
    given.POSTGRES_URL === undefined ? parseConfig({ ...readVariables(given.DATA_DIR), ...process.env }) : given;
  const db = connect(required(config, 'POSTGRES_URL'));
  const index = new SearchWriter(searchServer(config));
  try {
    if (options.check) {
      const found = await checkSearchIndex({ db, index });
      process.stdout.write(`${JSON.stringify(found)}\n`);
      return;
    }
    const indexer = new Indexer({ db, index, log: createLog({ process: 'reindex', level: config.LOG_LEVEL }) });
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
    process.stderr.write('reindex: the new index answers\n');
  } finally {
    await db.destroy();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`reindex: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
