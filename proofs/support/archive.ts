import { setServerSettings } from '../../src/bench/server-settings';
import { withDatabase } from '../../src/db/connection';
import { runAdmin } from '../../test/support/admin';
import type { OwnStack, RunningStack } from '../../test/support/stack';

/** Has Postgres archive its log every ten seconds, to no place, as a deployment does every minute. Restarts it. */
export async function archiveLog(own: OwnStack, { postgres_url }: RunningStack): Promise<void> {
  await withDatabase(postgres_url, async (db) => {
    await setServerSettings(db, { archive_mode: 'on', archive_command: 'true' });
    await own.kill('postgres', 'SIGINT');
    await own.ready();
    // Set only now: after a start Postgres looks at it once its settings are loaded again, or five minutes later.
    await setServerSettings(db, { archive_timeout: '10s' });
  });
}

/** Makes a check of a backup that fails, and that the record has nevertheless. */
export async function failBackupCheck({ data_dir }: OwnStack): Promise<void> {
  await runAdmin(['backup', 'check'], { data_dir, env: { BACKUP_RESTORE_COMMAND: 'exit 1' } });
}
