import { parseConfig } from '../../src/config';
import { setServerSettings } from '../../src/bench/server-settings';
import { withDatabase } from '../../src/db/connection';
import { createProgress } from '../../src/stack/progress';
import { timeSkippingTool } from '../../src/stack/servers/time-skipping';
import { findTool } from '../../src/stack/tools/find-tool';
import { discardStack, discardWhenAsked, launchStack } from '../../src/stack/launch';
import { removeAbandonedFolders } from '../../src/stack/own-folder';
import { createTemplate } from './database';
import { isKillingRun, killingSeed, killWorkerAtRandom } from './killing';
import { DATA_DIR_OF_RUN, makePostgres, serverFolder } from './stack';

/** Of Postgres: without waits for the disk, as only a power failure would lose data; hundreds of databases are vacuumed rarely. */
const WITHOUT_DISK = { synchronous_commit: 'off', fsync: 'off', full_page_writes: 'off', autovacuum_naptime: '5min' };

/**
 * Real servers, once for the whole run: a stack of its own beside a running `npm start`, and the time-skipping server's
 * program.
 */
export default async function globalSetup(): Promise<void> {
  await removeAbandonedFolders();
  const data_dir = serverFolder('test');
  await makePostgres(data_dir);
  let summarized = false;
  const launched = launchStack(data_dir, {
    // The first start builds servers for minutes: a person sees what it does, but not the summary after the empty line.
    onLine(line) {
      summarized ||= line === '';
      if (!summarized) process.stdout.write(`${line}\n`);
    },
  });
  const discard = discardWhenAsked(() => discardStack(launched, data_dir));
  try {
    const config = parseConfig(process.env);
    const tools = { tools_dir: config.TOOLS_DIR, progress: createProgress(), signal: new AbortController().signal };
    const [test_server, facts] = await Promise.all([
      findTool(timeSkippingTool(config.TEMPORAL_TEST_SERVER_PATH), tools),
      launched.ready,
    ]);
    await withDatabase(facts.postgres_url, (db) => setServerSettings(db, WITHOUT_DISK));
    await createTemplate(facts.postgres_url);
    process.env['TEMPORAL_TEST_SERVER_PATH'] = test_server;
    process.env[DATA_DIR_OF_RUN] = data_dir;
    const seed = killingSeed();
    const onKill = (seconds: number) =>
      void process.stdout.write(`KILL_WORKER_SEED=${seed}: worker killed at ${seconds} s\n`);
    const killer = isKillingRun() ? killWorkerAtRandom({ data_dir, seed, onKill }) : undefined;
    (globalThis as { discardTestStack?: () => Promise<void> }).discardTestStack = async () => {
      await killer?.stop();
      await discard();
    };
  } catch (error) {
    await discard();
    throw error;
  }
}
