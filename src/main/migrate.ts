import { parseConfig, required } from '../config';
import { migrate } from '../db/migrate';

/** Brings the schema of POSTGRES_URL up to date, then ends: the deployment's first step. */
async function main(): Promise<void> {
  await migrate(required(parseConfig(process.env), 'POSTGRES_URL'));
}

void main();
