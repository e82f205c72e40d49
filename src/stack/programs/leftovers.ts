import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_PATIENCE } from '../../config';
import { readIfThere, writeWhole } from '../files';
import { identify, lives, type Identity } from './identity';

/** The processes that run now, by name, written down so that the next start finds what a killed one left behind. */
export class RunningProcesses {
  private readonly file: string;
  private readonly running = new Map<string, Identity>();

  constructor(data_dir: string) {
    this.file = path.join(data_dir, 'processes.json');
  }

  /** Written at once and in one step: a kill -9 a moment later still leaves a complete list. */
  record(name: string, pid: number): void {
    const identity = identify(pid);
    if (identity === undefined) return;
    this.running.set(name, identity);
    writeWhole(this.file, JSON.stringify(Object.fromEntries(this.running), null, 2));
  }

  /** Nothing runs any more. */
  clear(): void {
    this.running.clear();
    rmSync(this.file, { force: true });
  }

  /**
   * Ends what an earlier run left behind and returns the names. Only processes whose start matches the list: a reused pid is left
   * alone. Clients of the servers end before them.
   */
  async stopLeftovers(): Promise<string[]> {
    const left = Object.entries(this.read()).filter(([name, identity]) => name !== 'start' && lives(identity));
    const isServer = ([name]: [string, Identity]) => SERVERS.has(name);
    await Promise.all(left.filter((entry) => !isServer(entry)).map(([, identity]) => stopProcess(identity, 'SIGTERM')));
    // PostgreSQL waits for its clients at SIGTERM; SIGINT is its fast and equally safe stop, which the others know too.
    await Promise.all(left.filter(isServer).map(([, identity]) => stopProcess(identity, 'SIGINT')));
    this.clear();
    return left.map(([name]) => name);
  }

  private read(): Record<string, Identity> {
    try {
      return JSON.parse(readIfThere(this.file) ?? '{}') as Record<string, Identity>;
    } catch {
      return {};
    }
  }
}

const SERVERS = new Set(['postgres', 'temporal', 'meilisearch']);

/** Ends that very process: the signal, and after `STOP_PATIENCE.supervisor` SIGKILL. Returns when it is gone. */
export async function stopProcess(identity: Identity, signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
  send(identity.pid, signal);
  const patience = performance.now() + STOP_PATIENCE.supervisor;
  while (lives(identity)) {
    if (performance.now() > patience) send(identity.pid, 'SIGKILL');
    await sleep(50);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in the meantime.
  }
}
