import { readFileSync, readdirSync } from 'node:fs';

/** Ticks of /proc a second: a constant of Linux on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * CPU milliseconds that each named process and all its descendants have used so far, those that have ended included:
 * PostgreSQL works in a process for each connection. Zero where there is no /proc.
 */
export function cpuMilliseconds(pids: Record<string, number>): Record<string, number> {
  return sums(pids, ({ ticks }) => (ticks * 1_000) / TICKS_PER_SECOND);
}

/**
 * Resident memory of each named process and its descendants, in MiB. Memory that processes share, as PostgreSQL's do,
 * counts once.
 */
export function memoryMiB(pids: Record<string, number>): Record<string, number> {
  return sums(pids, ({ pid }) => {
    const [, kib = '0'] = /^Pss: +(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`)) ?? [];
    return Number(kib) / 1_024;
  });
}

interface OneProcess {
  pid: number;
  parent: number;
  /** User and system time, its own and of children that have ended. */
  ticks: number;
}

/** The sum over each named process and its descendants, without those that have a name of their own. */
function sums(pids: Record<string, number>, figure: (one: OneProcess) => number): Record<string, number> {
  const processes = readProcesses();
  const named = new Set(Object.values(pids));
  const sum = (one: OneProcess): number =>
    processes
      .filter(({ pid, parent }) => parent === one.pid && !named.has(pid))
      .reduce((total, child) => total + sum(child), figure(one));
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => {
      const own = processes.find((one) => one.pid === pid);
      return [name, own === undefined ? 0 : sum(own)];
    }),
  );
}

function readProcesses(): OneProcess[] {
  const entries = readOrEmpty('/proc/self/stat') === '' ? [] : readdirSync('/proc');
  return entries.flatMap((entry) => {
    // The name in brackets may hold anything; the numbers follow the last bracket.
    const stat = /^\d+$/.test(entry) ? readOrEmpty(`/proc/${entry}/stat`) : '';
    if (stat === '') return [];
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
    return [{ pid: Number(entry), parent: Number(fields[1]), ticks }];
  });
}

/** Empty when the process has ended in the meantime, or this is no Linux. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
