import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { bundleHash } from './bundle-hash';
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
