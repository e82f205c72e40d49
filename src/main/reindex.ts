import { parseArgs } from 'node:util';
import { commandConfig } from '../admin/config';
import { reindex } from '../admin/reindex';

/** `npm run reindex`, with `-- --check`: as `admin reindex` does. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  await reindex(commandConfig(process.env), values);
}

main().catch((error: unknown) => {
  process.stderr.write(`reindex: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
