/**
 * Runs the indexer in a process of its own, so that it can be killed: node index-changes.cjs <postgres> <meilisearch>
 * <key>
 */
const pino = require('pino');
const { connect, LIMITS } = require('../../dist/src/db/connection');
const { Indexer } = require('../../dist/src/main/indexer');
const { SearchWriter } = require('../../dist/src/search/writer');

const [, , postgres_url, url, master_key] = process.argv;
new Indexer({
  db: connect(postgres_url, { limits: LIMITS, quiet: true }),
  index: new SearchWriter({ url, master_key }),
  log: pino({ level: 'silent' }),
}).start();
process.on('disconnect', () => process.exit());
