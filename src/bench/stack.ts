import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StackFacts } from '../stack/facts';
import { repositoryRoot } from '../stack/files';
import { discardStack, launchStack, readVariables } from '../stack/launch';

/** A whole stack for the benchmark alone, whose api and worker know the floor too. */
export interface BenchStack {
  facts: StackFacts;
  data_dir: string;
  /** The configuration its processes share, secrets included. */
  variables: Record<string, string>;
  discard(): Promise<void>;
}

/**
 * Starts the stack of `npm start` in its own folder and on free ports; it stops when this process ends. Without versions
 * of workers, as it is deployed by default.
 */
export async function startBenchStack(): Promise<BenchStack> {
  const data_dir = mkdtempSync(path.join(tmpdir(), 'payments-bench-'));
  // As npm start makes its own: otherwise PostgreSQL under root needs a copy of its binaries.
  chmodSync(data_dir, 0o711);
  const program = (name: string) => path.join(repositoryRoot(), 'dist/src/main', `${name}.js`);
  const launched = launchStack(data_dir, {
    args: ['--api', program('bench-api'), '--worker', program('bench-worker')],
    env: { DEPLOYMENT_VERSIONING: process.env['DEPLOYMENT_VERSIONING'] ?? 'off' },
  });
  const discard = () => discardStack(launched, data_dir);
  try {
    return { facts: await launched.ready, data_dir, variables: readVariables(data_dir), discard };
  } catch (error) {
    await discard();
    throw error;
  }
}
