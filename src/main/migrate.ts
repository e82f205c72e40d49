import { parseConfig, requireSetting } from '../config';
import { migrate } from '../db/migrate';

/** Brings the schema of POSTGRES_URL up to date, then ends: the deployment's first step. */
async function main(): Promise<void> {
  await migrate(requireSetting(parseConfig(process.env), 'POSTGRES_URL'));
}

main().catch((error: unknown) => {
  process.stderr.write(`The database was not migrated: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
