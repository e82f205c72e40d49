import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_LIMITS_MS } from '../../config';
import { readFileIfExists, writeWhole } from '../files';

/** A process as it is recorded: pids are reused, a pid with its start time is not. */
export interface Identity {
  pid: number;
  /** When it started, in a form that is only ever compared. */
  since: string;
}

/** The identity of a process; `undefined` when there is none with that pid (a zombie counts as none). */
export function identify(pid: number): Identity | undefined {
  const since = process.platform === 'linux' ? sinceOnLinux(pid) : sinceByPs(pid);
  return since === undefined ? undefined : { pid, since };
}

/** Whether that very process still lives. */
export function isAlive(identity: Identity): boolean {
  return identify(identity.pid)?.since === identity.since;
}

/** The process's command line, `undefined` when there is none with that pid or it may not be read. */
export function commandLine(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || undefined;
    }
    return ps(pid, 'command=');
  } catch {
    return undefined;
  }
}

function sinceOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces: fields count from the last parenthesis; proc(5): 3 is the state, 22 the
    // start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function sinceByPs(pid: number): string | undefined {
  try {
    return ps(pid, 'lstart=');
  } catch {
    return undefined;
  }
}

function ps(pid: number, column: string): string | undefined {
  return (
    execFileSync('ps', ['-o', column, '-p', String(pid)], {
      encoding: 'utf8',
      // It writes instants for the reader: a process of another time zone or language must get the same text.
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim() || undefined
  );
}

/**
 * The order of the stop: no new requests, then no new work, then the simulator, the codec and Temporal's Web UI, then the
 * servers they all need, and last the database of Temporal's cluster.
 */
export const STOP_ORDER = [
  ['api', 'manage'],
  ['worker'],
  ['simulator', 'codec', 'temporal-ui'],
  ['postgres', 'temporal', 'meilisearch'],
  ['temporal-postgres'],
];

/** Names of programs in the order of their stop, those of a group at the same time. Other programs come last. */
export function inStopOrder(names: readonly string[]): string[][] {
  const known = STOP_ORDER.flat();
  const groups = STOP_ORDER.map((group) => group.filter((name) => names.includes(name)));
  return [...groups, names.filter((name) => !known.includes(name))];
}

/**
 * The running processes by name, in a file, so that the next start finds processes that a killed supervisor left
 * behind.
 */
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
   * Ends the processes that an earlier run left behind, in the order of a stop. `onFound` gets their names before that. A process
   * whose start time does not match the list has a reused pid and is not touched.
   */
  async stopLeftovers(onFound: (names: string[]) => void): Promise<void> {
    const left = this.left();
    if (left.length > 0) onFound(left.map(([name]) => name));
    for (const group of inStopOrder(left.map(([name]) => name))) {
      const ending = left.filter(([name]) => group.includes(name));
      await Promise.all(
        ending.map(([name, identity]) => stopProcess(identity, SERVERS.has(name) ? 'SIGINT' : 'SIGTERM')),
      );
    }
    this.clear();
  }

  /** Kills these processes at once, where nobody needs their data: PostgreSQL still removes its shared memory. */
  async killLeftovers(): Promise<void> {
    const kill = ([name, identity]: [string, Identity]) =>
      stopProcess(identity, name.includes('postgres') ? 'SIGQUIT' : 'SIGKILL');
    await Promise.all(this.left().map(kill));
  }

  private left(): [name: string, Identity][] {
    return Object.entries(this.read()).filter(([name, identity]) => name !== 'start' && isAlive(identity));
  }

  private read(): Record<string, Identity> {
    try {
      return JSON.parse(readFileIfExists(this.file) ?? '{}') as Record<string, Identity>;
    } catch {
      return {};
    }
  }
}

/** PostgreSQL waits for its clients at SIGTERM; SIGINT is its fast and equally safe stop, which the others know too. */
const SERVERS = new Set(['postgres', 'temporal', 'meilisearch', 'temporal-postgres']);

/** Sends the signal to the process, and SIGKILL after `STOP_LIMITS_MS.supervisor`. Resolves when it has ended. */
export async function stopProcess(identity: Identity, signal: NodeJS.Signals): Promise<void> {
  send(identity.pid, signal);
  const deadline = performance.now() + STOP_LIMITS_MS.supervisor;
  while (isAlive(identity)) {
    if (performance.now() > deadline) send(identity.pid, 'SIGKILL');
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
