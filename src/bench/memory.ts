import { readFileSync } from 'node:fs';

/** Milliseconds between two looks at the memory of a process. */
const MEMORY_EVERY_MS = 100;

/** Resident memory, all of it or what is not from files. */
type Memory = 'VmRSS' | 'RssAnon';

/** Watches the memory of a process until it is stopped; `most`: in MiB, so far. */
export function watchMemory(pid: number | undefined, kind: Memory) {
  let most = memoryOf(pid, kind);
  const timer = setInterval(() => (most = Math.max(most, memoryOf(pid, kind))), MEMORY_EVERY_MS);
  return { most: () => most, stop: () => clearInterval(timer) };
}

/** Memory of a process in MiB, from /proc; 0 where there is none. */
export function memoryOf(pid: number | undefined, kind: Memory): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${kind}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
