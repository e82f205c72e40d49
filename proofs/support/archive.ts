import { connectDatabase, queryRows, type Database } from '../../src/db/connection';
import type { OwnStack, RunningStack } from '../../test/support/stack';

/** Has Postgres archive its log every ten seconds, as a deployment does every minute. Restarts it. */
export async function archiveLog(own: OwnStack, { postgres_url }: RunningStack): Promise<void> {
  const db = connectDatabase(postgres_url, { pool_max: 1, quiet: true });
  await queryRows(db, 'alter system set archive_mode = on', {});
  await queryRows(db, `alter system set archive_timeout = '10s'`, {});
  await setArchiveCommand(db, 'true');
  await own.kill('postgres', 'SIGINT');
  await own.ready();
  // After a start Postgres looks at archive_timeout only once something wakes its checkpointer, or five minutes later.
  await reloadSettings(db);
  await db.destroy();
}

/** `true` archives, to no place; `false` fails. */
export async function setArchiveCommand(db: Database, command: 'true' | 'false'): Promise<void> {
  await queryRows(db, `alter system set archive_command = '${command}'`, {});
  await reloadSettings(db);
}

const reloadSettings = (db: Database) => queryRows(db, 'select pg_reload_conf()', {});
