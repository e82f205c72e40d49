import { readFileSync, readdirSync } from 'node:fs';

/** Ticks of /proc a second: a constant of Linux on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * CPU milliseconds that each named process and all its descendants have used so far, those that have ended included:
 * PostgreSQL works in a process for each connection. Empty where there is no /proc.
 */
export function cpuMilliseconds(pids: Record<string, number>): Record<string, number> {
  const processes = readProcesses();
  const named = new Set(Object.values(pids));
  const used = (pid: number): number => {
    const own = processes.find((one) => one.pid === pid)?.ticks ?? 0;
    const children = processes.filter((one) => one.parent === pid && !named.has(one.pid));
    return children.reduce((sum, child) => sum + used(child.pid), own);
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, (used(pid) * 1_000) / TICKS_PER_SECOND]));
}

interface ProcessTicks {
  pid: number;
  parent: number;
  /** User and system time, its own and of children that have ended. */
  ticks: number;
}

function readProcesses(): ProcessTicks[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      // The name in brackets may hold anything; the numbers follow the last bracket.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
      return [{ pid: Number(entry), parent: Number(fields[1]), ticks }];
    } catch {
      // It has ended in the meantime.
      return [];
    }
  });
}
