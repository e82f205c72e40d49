import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { GENERATED, type Generated } from '../generate/generated';
import { messageOf } from '../errors';

/**
 * Writes what is computed from the code (openapi.json, .env.example, parts of docs) into the folder it is run in.
 * With `--check` it writes nothing, names the files that differ and ends with 1.
 */
function main(): void {
  const check = process.argv.includes('--check');
  for (const generated of GENERATED) {
    const problem = bringUpToDate(generated, check);
    if (problem === undefined) continue;
    process.stderr.write(`${generated.file} ${problem}\n`);
    process.exitCode = 1;
  }
}

/** The fault of the file that was not fixed; `undefined` when it is up to date. */
function bringUpToDate({ file, content }: Generated, check: boolean): string | undefined {
  const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
  let wanted: string;
  try {
    wanted = content(current);
  } catch (error) {
    return `cannot be generated: ${messageOf(error)}`;
  }
  if (wanted === current) return undefined;
  if (check) return 'is stale: run npm run generate';
  writeFileSync(file, wanted);
  return undefined;
}

main();
