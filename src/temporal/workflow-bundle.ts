import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

/** Workflow code as one file for the worker: minimized, as each workflow runs the bundle's modules anew. */
export async function buildWorkflowBundle(workflowsPath = require.resolve('../../workflows')): Promise<{ code: string }> {
  return await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [require.resolve('../../workflows/interceptors')],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    webpackConfigHook: (config) => ({ ...config, mode: 'production', devtool: 'inline-nosources-source-map' }),
  });
}

/**
 * The bundle's file, built when the code it is made from has changed since. Several processes may ask at once: each
 * writes under a name of its own and renames, so that nobody reads half a file.
 */
export async function workflowBundlePath(folder: string): Promise<string> {
  const file = path.join(folder, `workflow-bundle-${await sourceHash()}.js`);
  if (existsSync(file)) return file;
  const { code } = await buildWorkflowBundle();
  await mkdir(folder, { recursive: true });
  const mine = `${file}.${process.pid}`;
  await writeFile(mine, code);
  await rename(mine, file);
  return file;
}

async function sourceHash(): Promise<string> {
  const root = path.join(__dirname, '../..');
  const hash = createHash('sha256').update(require('@temporalio/worker/package.json').version as string);
  for (const folder of ['workflows', 'src/domain']) {
    const names = (await readdir(path.join(root, folder))).filter((name) => /\.[jt]s$/.test(name)).toSorted();
    for (const name of names) hash.update(name).update(await readFile(path.join(root, folder, name)));
  }
  return hash.update(await readFile(path.join(root, 'src/errors.js')).catch(() => '')).digest('hex').slice(0, 16);
}
