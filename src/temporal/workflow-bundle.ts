import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { FAILURE_CONVERTER } from './connect';

/** Workflow code as one file for the worker. Minified, as each workflow loads the bundle's modules again. */
export async function buildWorkflowBundle(
  workflowsPath = require.resolve('../../workflows'),
): Promise<{ code: string }> {
  return await bundleWorkflowCode({
    workflowsPath,
    failureConverterPath: FAILURE_CONVERTER,
    payloadConverterPath: require.resolve('../../workflows/payload-converter'),
    workflowInterceptorModules: [require.resolve('../../workflows/interceptors')],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    webpackConfigHook: (config) => ({ ...config, mode: 'production', devtool: 'inline-nosources-source-map' }),
  });
}

/** The folder of the compiled code, which holds the folders `workflows` and `src`. */
const COMPILED = path.join(__dirname, '../..');

/**
 * The path of the bundle beside the compiled code; built when that code has changed. Safe in several processes at once:
 * each writes under its own name and renames the file, so that no process reads half a file.
 */
export async function workflowBundlePath(root = COMPILED): Promise<string> {
  const file = path.join(root, `workflow-bundle-${await bundleHash(root)}.js`);
  if (existsSync(file)) return file;
  const { code } = await buildWorkflowBundle(path.join(root, 'workflows/index.js'));
  const mine = `${file}.${process.pid}`;
  await writeFile(mine, code);
  await rename(mine, file);
  return file;
}

/** A hash of the code in the bundle: this repository's below `root`, and the packages by the lock file. */
export async function bundleHash(root: string): Promise<string> {
  const hash = createHash('sha256').update(await lockFile(root));
  for (const folder of ['workflows', 'src/domain', 'src']) {
    const isBundled = folder === 'src' ? /^errors\.[jt]s$/ : /\.[jt]s$/;
    const all = await readdir(path.join(root, folder), { recursive: folder !== 'src' });
    const names = all.filter((name) => isBundled.test(name)).toSorted();
    for (const name of names) hash.update(name).update(await readFile(path.join(root, folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Compiled code is in a subfolder of the folder that holds the lock file. */
async function lockFile(root: string): Promise<Buffer> {
  const name = 'package-lock.json';
  return await readFile(path.join(existsSync(path.join(root, name)) ? root : path.dirname(root), name));
}
