import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
/** Callers counted at once; beyond that the least recently counted begins anew. */
const CALLERS_MAX = 10_000;

/** Attempts that may fail in a minute, for each caller, in this process. */
export interface FailureLimit {
  /**
   * Counts an attempt as failed until `forgive` says that it was not: of many at once, no more are tried than may fail.
   * Returns the seconds to wait when no more may fail; then it is not counted.
   */
  begin(caller: string, now: number): { forgive: () => void } | { retry_after_seconds: number };
}

/** `max` failures in any minute. */
export function createFailureLimit(max: number): FailureLimit {
  const failures = new LRUCache<string, number[]>({ max: CALLERS_MAX });
  return {
    begin(caller, now) {
      const recent = (failures.get(caller) ?? []).filter((at) => at > now - WINDOW_MS);
      const [oldest] = recent;
      if (oldest !== undefined && recent.length >= max) {
        return { retry_after_seconds: Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1_000)) };
      }
      recent.push(now);
      failures.set(caller, recent);
      return {
        forgive() {
          const all = failures.get(caller);
          const index = all?.indexOf(now) ?? -1;
          if (index >= 0) all!.splice(index, 1);
        },
      };
    },
  };
}
