/**
 * Runs the indexer in a process of its own, so that it can be killed: node index-changes.cjs <postgres> <meilisearch>
 * <key>
 */
const path = require('node:path');
const pino = require('pino');

/** What `npm run build` has made of a file of src. */
const built = (file) => require(path.join(__dirname, '../../dist/src', file));
const { connectDatabase, LIMITS } = built('db/connection');
const { Indexer } = built('indexer/indexer');
const { SearchWriter } = built('search/writer');

const [, , postgres_url, url, master_key] = process.argv;
new Indexer({
  db: connectDatabase(postgres_url, { limits: LIMITS, quiet: true }),
  index: new SearchWriter({ url, master_key }),
  log: pino({ level: 'silent' }),
}).start();
process.on('disconnect', () => process.exit());
