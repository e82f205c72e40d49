import { parseArgs } from 'node:util';
import { commandConfig } from '../admin/config';
import { reindex } from '../admin/reindex';
import { messageOf } from '../errors';

/** `npm run reindex`, with `-- --check`: as `admin reindex` does. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  await reindex(commandConfig(process.env), values);
}

main().catch((error: unknown) => {
  process.stderr.write(`reindex: ${messageOf(error)}\n`);
  process.exitCode = 1;
});
