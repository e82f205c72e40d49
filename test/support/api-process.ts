import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from '../../src/stack/files';
import { readVariables } from '../../src/stack/launch';
import { stack } from './stack';

/** An api process of a test's own on the run's stack. */
export interface ApiProcess {
  readonly url: string;
  /** Memory that the process holds now, in MiB. */
  memory(): number;
  /** `undefined` while it runs; else how it ended, with what it printed last. */
  ended(): string | undefined;
  stop(): Promise<void>;
}

/** Starts one, with options of Node and variables beside the stack's. Resolves when it listens. */
export async function startApiProcess(node_options: string[], env: Record<string, string> = {}): Promise<ApiProcess> {
  const child = spawn(process.execPath, [...node_options, path.join(repositoryRoot(), 'dist/src/main/api.js')], {
    cwd: repositoryRoot(),
    env: { ...process.env, ...readVariables(stack().data_dir), API_PORT: '0', LOG_LEVEL: 'info', ...env },
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
        if (msg === 'api listens') resolve(listens_at!);
      });
    }
    void closed.then(() => reject(new Error(`the api ended: ${end}`)));
  });
  return {
    url,
    memory: () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)]).toString()) / 1_024,
    ended: () => end,
    async stop() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
