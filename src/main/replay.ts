import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { quietRuntime, replayHistories, type RecordedHistory } from '../temporal/replay';
import { workflowBundlePath } from '../temporal/workflow-bundle';
import { messageOf } from '../errors';

/**
 * Refuses a workflow bundle with which recorded workflows could not continue: `node dist/src/main/replay.js <folder of
 * histories>` ends with 1 and names them. Run when an image is built, before it is used.
 */
async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: replay.js <folder of histories>');
  quietRuntime();
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  if (names.length === 0) throw new Error(`there are no histories in ${folder}`);
  const histories: RecordedHistory[] = [];
  for (const name of names) {
    histories.push({
      name: path.basename(name, '.json'),
      history: JSON.parse(await readFile(path.join(folder, name), 'utf8')) as object,
    });
  }
  const failures = Object.entries(await replayHistories({ codePath: await workflowBundlePath() }, histories));
  for (const [name, why] of failures) process.stdout.write(`${name}: ${why}\n`);
  process.stdout.write(`${histories.length - failures.length} of ${histories.length} histories replay\n`);
  process.exit(failures.length === 0 ? 0 : 1);
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
});
