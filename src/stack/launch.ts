import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseEnv } from 'node:util';
import { TEMPORAL_CREDENTIALS, configSchema, type Config } from '../config';
import type { StackFacts } from './facts';
import { clusterData, readFileIfExists, repositoryRoot } from './files';

/** A stack that another program has started: the benchmark's and the tests' own. */
export interface LaunchedStack {
  readonly process: ChildProcess;
  /** Every line it has printed. */
  readonly lines: string[];
  /** Resolves when everything runs; rejects with its output if it ends before. */
  readonly ready: Promise<StackFacts>;
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
}

interface LaunchOptions {
  /** Arguments of start.js. */
  args?: string[];
  /** Variables beside the free ports and those of this process, of which no server of the shell's is left. */
  env?: Record<string, string>;
  onLine?: (line: string) => void;
}

/** How the servers report that another program listens on their port. */
const PORT_TAKEN = /EADDRINUSE|address already in use|could not create any TCP\/IP sockets/i;

/** What leads to servers that run already, or to receivers of what they send. */
const GIVEN_SERVERS = [
  'POSTGRES_URL',
  'POSTGRES_PASSWORD_FILE',
  'POSTGRES_OWNER_URL',
  'SIMULATOR_POSTGRES_URL',
  'TEMPORAL_ADDRESS',
  ...TEMPORAL_CREDENTIALS,
  'MEILISEARCH_URL',
  'MEILISEARCH_KEY',
  'PROCESSOR_URL',
  'PROCESSOR_NOTIFICATION_URL',
  'PUBLIC_URL',
  'MANAGE_PUBLIC_URL',
  'SIMULATOR_PUBLIC_URL',
  'OPERATOR_WEBHOOK_URL',
  'DEMO_WEBHOOK_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const satisfies readonly (keyof Config)[];

/**
 * For tests, proofs and the benchmark, and the processes that they start: the shell may name the servers of production,
 * for `npm run admin`, and these must not be migrated and filled.
 */
export function forgetGivenServers(): void {
  for (const name of GIVEN_SERVERS) delete process.env[name];
}

/**
 * Starts `dist/src/main/start.js` on a folder of its own and on free ports; it stops when this process ends. A port
 * that was free when it was chosen may be taken seconds later, when its server starts: then the stack is started once
 * more, on other ports. It uses no servers but its own and those in `options.env`.
 */
export function launchStack(data_dir: string, options: LaunchOptions = {}): LaunchedStack {
  const entry = path.join(repositoryRoot(), 'dist/src/main/start.js');
  if (!existsSync(entry)) throw new Error('dist is missing: npm run build');
  forgetGivenServers();
  const settings = { NODE_ENV: 'production', LOG_LEVEL: 'warn', RATE_LIMIT_PER_SECOND: '0', ...freePorts() };
  const env = { ...process.env, ...settings, ...options.env, DATA_DIR: data_dir };
  const lines: string[] = [];
  let child: ChildProcess;
  let isReady = false;
  let markReady: () => void;
  const started = new Promise<StackFacts>((resolve) => {
    markReady = () => {
      isReady = true;
      resolve(readFacts(data_dir));
    };
  });
  /** Resolves with its exit code. */
  const run = () => {
    lines.length = 0;
    child = spawn(process.execPath, [entry, ...(options.args ?? [])], {
      cwd: repositoryRoot(),
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C reaches the launching process alone, which then stops the stack.
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        options.onLine?.(line);
      });
    }
    child.once('message', markReady);
    return new Promise<number | null>((resolve) => child.once('close', resolve));
  };
  const ended = run().then((code) => (!isReady && lines.some((line) => PORT_TAKEN.test(line)) ? run() : code));
  const failed = ended.then((code): never => {
    throw new Error(`the stack ended with code ${code}:\n${lines.join('\n')}`);
  });
  const ready = Promise.race([started, failed]);
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
  removeData(data_dir);
}

/**
 * Calls `discard` once when this process is told to end, and then ends it: no servers and no data are left behind.
 * Repeated signals count as one, as npm hands on a Ctrl-C that the terminal has already delivered. Returns a `discard`
 * that does its work once, whoever calls it.
 */
export function discardWhenAsked(discard: () => Promise<void>): () => Promise<void> {
  let discarded: Promise<void> | undefined;
  const discardOnce = () => (discarded ??= discard());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void discardOnce().finally(() => process.exit(1)));
  }
  return discardOnce;
}

/** Removes the folder of servers that do not run, and those outside of it that PostgreSQL may have. */
export function removeData(data_dir: string): void {
  const elsewhere = [data_dir, clusterData(data_dir)].map((folder) =>
    readFileIfExists(path.join(folder, 'postgres.path'))?.trim(),
  );
  for (const folder of [data_dir, ...elsewhere]) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** The contents of stack.json of a running stack. */
export function readFacts(data_dir: string): StackFacts {
  return JSON.parse(readFileSync(path.join(data_dir, 'stack.json'), 'utf8')) as StackFacts;
}

/** The variables that one more process of the stack needs, secrets included. */
export function readVariables(data_dir: string): Record<string, string> {
  const text = readFileSync(path.join(data_dir, 'stack.env'), 'utf8');
  return parseEnv(text) as Record<string, string>;
}

const freePorts = () =>
  Object.fromEntries(Object.keys(configSchema.shape).flatMap((name) => (name.endsWith('_PORT') ? [[name, '0']] : [])));
