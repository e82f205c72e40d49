import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
export function lives(identity: Identity): boolean {
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
    // The name in parentheses may hold spaces: fields count from the last parenthesis; proc(5): 3 is the state, 22 the start.
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
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim() || undefined
  );
}
