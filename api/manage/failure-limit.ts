import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
/** Callers counted at once; beyond that the least recently counted begins anew. */
const CALLERS_MAX = 10_000;

/**
 * Counts a failure of a caller in this process. Returns 0, or the seconds to wait when the caller has failed too often
 * in the last minute; then it is not counted.
 */
export type CountFailure = (caller: string, now: number) => number;

/** `max` failures in any minute, for each caller. */
export function createFailureLimit(max: number): CountFailure {
  const failures = new LRUCache<string, number[]>({ max: CALLERS_MAX });
  return (caller, now) => {
    const recent = (failures.get(caller) ?? []).filter((at) => at > now - WINDOW_MS);
    const [oldest] = recent;
    if (oldest !== undefined && recent.length >= max) {
      return Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1_000));
    }
    failures.set(caller, [...recent, now]);
    return 0;
  };
}
