import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from '../../src/stack/files';
import { readVariables } from '../../src/stack/launch';
import { stack } from './stack';

/** A process of a test's own on the run's stack or another; a worker has no address. */
export interface TestProcess {
  readonly url: string;
  readonly pid: number;
  /** Memory that the process holds now, in MiB. */
  memory(): number;
  /** `undefined` while it runs; else how it ended, with what it printed last. */
  ended(): string | undefined;
  kill(signal: 'SIGTERM' | 'SIGINT'): void;
  /** Kills it if it runs; with SIGTERM it may finish its work. */
  stop(signal?: 'SIGTERM'): Promise<void>;
}

interface ProcessOptions {
  /** Of Node. */
  node_options?: string[];
  /** Variables beside those of the stack. */
  env?: Record<string, string>;
  /** The folder of the stack, unless it is the run's. */
  data_dir?: string;
}

/** What each logs when it listens or polls. */
const LISTENS = { api: 'api listens', manage: 'bearer-token host listens', worker: 'worker runs' };

/** Starts one more API, bearer-token host or worker. Resolves when it listens or polls. */
export async function startProcess(
  name: keyof typeof LISTENS,
  { node_options = [], env = {}, data_dir = stack().data_dir }: ProcessOptions = {},
): Promise<TestProcess> {
  const child = spawn(process.execPath, [...node_options, path.join(repositoryRoot(), `dist/src/main/${name}.js`)], {
    cwd: repositoryRoot(),
    env: {
      ...process.env,
      ...readVariables(data_dir),
      API_PORT: '0',
      MANAGE_PORT: '0',
      LOG_LEVEL: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  let end: string | undefined;
  const closed = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      end = `${signal ?? code}: ${lines.slice(-30).join('\n')}`;
      resolve();
    });
  });
  const url = await new Promise<string>((resolve, reject) => {
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        lines.push(line);
        const { msg, url: listens_at } = line.startsWith('{')
          ? (JSON.parse(line) as { msg?: string; url?: string })
          : {};
        if (msg === LISTENS[name]) resolve(listens_at ?? '');
      });
    }
    void closed.then(() => reject(new Error(`${name} ended: ${end}`)));
  });
  return {
    url,
    pid: child.pid!,
    memory: () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)]).toString()) / 1_024,
    ended: () => end,
    kill: (signal) => void child.kill(signal),
    async stop(signal) {
      child.kill(signal ?? 'SIGKILL');
      await closed;
    },
  };
}
