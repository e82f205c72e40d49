import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { Agent } from 'undici';
import { repositoryRoot } from '../stack/files';
import { floorRow, type BenchRow } from './rows';
import type { BenchStack } from './stack';

/** What a process of the bare floor sends when it works; `url` of its api. */
export interface BareReady {
  url: string | null;
}

/** The floor on processes of its own, beside the stack and on its Temporal server. */
export interface BareFloor {
  row: BenchRow;
  pids: Record<string, number>;
  close(): Promise<void>;
}

export const BARE_FLOOR = 'bare floor';

/** The names of its processes, by the names of ours whose work they do. */
const PROCESSES = { worker: 'bare worker', api: 'bare api' };

/** Starts a worker and an api that use the SDK as it comes. They end with this process. */
export async function startBareFloor({ facts, data_dir }: BenchStack): Promise<BareFloor> {
  const children = Object.entries(PROCESSES).map(([role, name]) => {
    const log = openSync(path.join(data_dir, 'logs', `${name}.log`), 'a');
    const child = fork(
      path.join(repositoryRoot(), 'dist/src/main/bench-floor.js'),
      [role, facts.temporal_address, facts.temporal_namespace],
      { env: { ...process.env, NODE_ENV: 'production' }, stdio: ['ignore', log, log, 'ipc'] },
    );
    closeSync(log);
    return { name, child };
  });
  const agent = new Agent({ keepAliveTimeout: 60_000 });
  const ready = await Promise.all(children.map(({ child }) => readyOf(child)));
  const url = ready.flatMap((one) => one.url ?? [])[0] ?? '';
  const pids = Object.fromEntries(children.map(({ name, child }) => [name, child.pid ?? 0]));
  const row = {
    ...floorRow(BARE_FLOOR, url, agent),
    is_main: true,
    processes: { temporal: 'temporal', ...PROCESSES, bench: 'bench' },
  };
  const close = async () => {
    await agent.destroy();
    for (const { child } of children) child.disconnect();
  };
  return { row, pids, close };
}

async function readyOf(child: ChildProcess): Promise<BareReady> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('a process of the bare floor ended: its log is in the folder of the stack');
  });
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [BareReady];
  return ready;
}
