import { setServerSettings } from '../../src/bench/server-settings';
import { connectDatabase } from '../../src/db/connection';
import { runAdmin } from '../../test/support/admin';
import type { OwnStack, RunningStack } from '../../test/support/stack';

/** Has Postgres archive its log every ten seconds, to no place, as a deployment does every minute. Restarts it. */
export async function archiveLog(own: OwnStack, { postgres_url }: RunningStack): Promise<void> {
  const db = connectDatabase(postgres_url, { pool_max: 1, quiet: true });
  await setServerSettings(db, { archive_mode: 'on', archive_command: 'true' });
  await own.kill('postgres', 'SIGINT');
  await own.ready();
  // Set only now: after a start Postgres looks at it once its settings are loaded again, or five minutes later.
  await setServerSettings(db, { archive_timeout: '10s' });
  await db.destroy();
}

/** Makes a check of a backup that fails, and that the record has nevertheless. */
export async function failBackupCheck({ data_dir }: OwnStack): Promise<void> {
  await runAdmin(['backup', 'check'], { data_dir, env: { BACKUP_RESTORE_COMMAND: 'exit 1' } });
}
