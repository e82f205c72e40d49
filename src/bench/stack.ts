import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { configSchema } from '../config';
import type { StackFacts } from '../stack/facts';
import { readIfThere, repositoryRoot } from '../stack/files';

/** A whole stack for the benchmark alone, whose api and worker know the floor too. */
export interface BenchStack {
  facts: StackFacts;
  data_dir: string;
  /** The configuration its processes share, secrets included. */
  variables: Record<string, string>;
  discard(): Promise<void>;
}

/** Starts what `npm start` starts, on a folder of its own and free ports; it stops when this process ends. */
export async function startBenchStack(): Promise<BenchStack> {
  const data_dir = mkdtempSync(path.join(tmpdir(), 'payments-bench-'));
  // As npm start makes its own: otherwise PostgreSQL under root needs a copy of its binaries.
  chmodSync(data_dir, 0o711);
  const program = (name: string) => path.join(repositoryRoot(), 'dist/src/main', `${name}.js`);
  const child = spawn(
    process.execPath,
    [program('start'), '--api', program('bench-api'), '--worker', program('bench-worker')],
    {
      cwd: repositoryRoot(),
      env: {
        ...process.env,
        NODE_ENV: 'production',
        LOG_LEVEL: 'warn',
        RATE_LIMIT_PER_SECOND: '0',
        ...freePorts(),
        DATA_DIR: data_dir,
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      // Ctrl-C reaches the benchmark alone, which then stops the stack.
      detached: true,
    },
  );
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const discard = async () => {
    child.kill('SIGTERM');
    await ended;
    const elsewhere = readIfThere(path.join(data_dir, 'postgres.path'))?.trim();
    for (const folder of [data_dir, elsewhere]) {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    }
  };
  const ready = new Promise<'ready'>((done) => child.once('message', () => done('ready')));
  if ((await Promise.race([ready, ended])) !== 'ready') {
    await discard();
    throw new Error(`the stack ended:\n${output}`);
  }
  return { facts: readFacts(data_dir), data_dir, variables: readVariables(data_dir), discard };
}

const freePorts = () =>
  Object.fromEntries(Object.keys(configSchema.shape).flatMap((name) => (name.endsWith('_PORT') ? [[name, '0']] : [])));

function readFacts(data_dir: string): StackFacts {
  return JSON.parse(readFileSync(path.join(data_dir, 'stack.json'), 'utf8')) as StackFacts;
}

function readVariables(data_dir: string): Record<string, string> {
  const text = readFileSync(path.join(data_dir, 'stack.env'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]));
}
