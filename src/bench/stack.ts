import path from 'node:path';
import type { StackFacts } from '../stack/facts';
import { repositoryRoot } from '../stack/files';
import { discardStack, discardWhenAsked, launchStack, readVariables } from '../stack/launch';
import { makeOwnFolder, removeAbandonedFolders } from '../stack/own-folder';

/** A whole stack for the benchmark alone, whose api and worker know the floor too. */
export interface BenchStack {
  facts: StackFacts;
  data_dir: string;
  /** The configuration its processes share, secrets included. */
  variables: Record<string, string>;
  discard(): Promise<void>;
}

/**
 * Starts the stack of `npm start` in its own folder and on free ports; it stops when this process ends, and Ctrl-C
 * leaves no data. Without versions of workers, as it is deployed by default.
 */
export async function startBenchStack(): Promise<BenchStack> {
  await removeAbandonedFolders();
  const data_dir = makeOwnFolder('bench');
  const program = (name: string) => path.join(repositoryRoot(), 'dist/src/main', `${name}.js`);
  const launched = launchStack(data_dir, {
    args: ['--api', program('bench-api'), '--worker', program('bench-worker')],
    env: { DEPLOYMENT_VERSIONING: process.env['DEPLOYMENT_VERSIONING'] ?? 'off' },
  });
  const discard = discardWhenAsked(() => discardStack(launched, data_dir));
  try {
    return { facts: await launched.ready, data_dir, variables: readVariables(data_dir), discard };
  } catch (error) {
    await discard();
    throw error;
  }
}
