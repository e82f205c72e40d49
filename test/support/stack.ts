import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { StackFacts } from '../../src/stack/facts';
import { readIfThere, repositoryRoot } from '../../src/stack/files';

export interface RunningStack extends StackFacts {
  data_dir: string;
  /** What the service shows the simulator. */
  processor_key: string;
  /** What reads the payloads of its workflows. */
  payload_keys: string;
}

/** The stack that global-setup has started for the whole run: its addresses, keys and pids, and its folder. */
export function stack(): RunningStack {
  const data_dir = process.env[DATA_DIR_OF_RUN];
  if (data_dir === undefined) throw new Error('no stack runs: tests start through jest, whose global-setup starts it');
  return stackIn(data_dir);
}

/** The stack that runs on this folder. */
export function stackIn(data_dir: string): RunningStack {
  const { PROCESSOR_KEY: processor_key = '', PAYLOAD_KEYS: payload_keys = '' } = readVariables(data_dir);
  return { ...readFacts(data_dir), data_dir, processor_key, payload_keys };
}

/** What one more process of that stack would need, secrets included. */
function readVariables(data_dir: string): Record<string, string> {
  const text = readFileSync(path.join(data_dir, 'stack.env'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]));
}

/** Where global-setup leaves the folder's path for the tests. */
export const DATA_DIR_OF_RUN = 'PAYMENTS_TEST_DATA_DIR';

export function readFacts(data_dir: string): StackFacts {
  return JSON.parse(readFileSync(path.join(data_dir, 'stack.json'), 'utf8')) as StackFacts;
}

export interface LaunchedStack {
  readonly process: ChildProcess;
  /** Every line it has printed. */
  lines: string[];
  /** Resolves when everything runs; rejects with what it printed when it ends before. */
  ready: Promise<StackFacts>;
  /** Resolves with its exit code. */
  ended: Promise<number | null>;
}

/** How the servers say that somebody else listens there. */
const PORT_TAKEN = /EADDRINUSE|address already in use|could not create any TCP\/IP sockets/i;

/**
 * Starts `dist/src/main/start.js` on a folder of its own and on free ports; it stops when this process ends. A port that was free
 * when it was chosen may be taken seconds later, when its server starts: then all is started once more, on others.
 */
export function launchStack(
  data_dir: string,
  options: { env?: Record<string, string>; onLine?: (line: string) => void } = {},
): LaunchedStack {
  const entry = path.join(repositoryRoot(), 'dist/src/main/start.js');
  if (!existsSync(entry)) throw new Error('dist is missing: npm run build');
  const ports = Object.fromEntries(
    ['API', 'SIMULATOR', 'POSTGRES', 'TEMPORAL', 'TEMPORAL_UI', 'CODEC', 'MEILISEARCH'].map((name) => [
      `${name}_PORT`,
      '0',
    ]),
  );
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_SECOND: '0',
    ...ports,
    ...options.env,
    DATA_DIR: data_dir,
  };
  const lines: string[] = [];
  let child: ChildProcess;
  let is_told = false;
  let tell: () => void;
  const told = new Promise<StackFacts>((done) => {
    tell = () => {
      is_told = true;
      done(readFacts(data_dir));
    };
  });
  /** Answers its exit code. */
  const run = () => {
    lines.length = 0;
    child = spawn(process.execPath, [entry], { cwd: repositoryRoot(), env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        options.onLine?.(line);
      });
    }
    child.once('message', tell);
    return new Promise<number | null>((done) => child.once('close', done));
  };
  const ended = run().then((code) => (!is_told && lines.some((line) => PORT_TAKEN.test(line)) ? run() : code));
  const failed = ended.then((code): never => {
    throw new Error(`the stack ended with code ${code}:\n${lines.join('\n')}`);
  });
  const ready = Promise.race([told, failed]);
  ready.catch(() => undefined);
  return {
    get process() {
      return child;
    },
    lines,
    ready,
    ended,
  };
}

/** Stops it as Ctrl-C does and removes its folders, also the one outside of `data_dir` that PostgreSQL may have. */
export async function discardStack(launched: LaunchedStack, data_dir: string): Promise<void> {
  launched.process.kill('SIGTERM');
  await launched.ended;
  const elsewhere = readIfThere(path.join(data_dir, 'postgres.path'))?.trim();
  for (const folder of [data_dir, elsewhere]) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
