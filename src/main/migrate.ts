import { parseConfig, postgresUrlWithPassword, requireSetting } from '../config';
import { NewerSchema, migrate } from '../db/migrate';
import { messageOf } from '../errors';

/**
 * Brings the schema up to date, then ends: the deployment's first step. POSTGRES_OWNER_URL owns the schema, and the
 * role of POSTGRES_URL gets its rights.
 */
async function main(): Promise<void> {
  const config = parseConfig(process.env);
  await migrate(postgresUrlWithPassword(requireSetting(config, 'POSTGRES_URL'), config), {
    owner_url: config.POSTGRES_OWNER_URL,
    onRetry: (attempt) => process.stderr.write(`A lock was not free, attempt ${attempt}; trying again.\n`),
  });
}

main().catch((error: unknown) => {
  const remedy = error instanceof NewerSchema ? ' Leave the migration out, or run that of the newer version.' : '';
  process.stderr.write(`The database was not migrated: ${messageOf(error)}${remedy}\n`);
  process.exit(1);
});
