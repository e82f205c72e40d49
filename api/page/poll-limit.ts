import { LRUCache } from 'lru-cache';

/** Pause after the first poll of a transaction; each further poll doubles it, up to the maximum. Milliseconds. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** Maximum number of remembered transactions; the least recently polled one is dropped. */
const REMEMBERED_MAX = 10_000;

/**
 * Runs `poll` unless the transaction was polled a short time ago; waits for a running poll instead of starting another.
 */
export type PollLimit = (transaction_id: string, poll: () => Promise<void>) => Promise<void>;

/**
 * Limits how often page loads make this process poll the processor: one poll at a time per transaction, with growing
 * pauses (rules 12.12). A failed poll does not count.
 */
export function createPollLimit(): PollLimit {
  const polled = new LRUCache<string, { pause_ms: number; next_at: number }>({ max: REMEMBERED_MAX });
  const running = new Map<string, Promise<void>>();

  async function run(transaction_id: string, poll: () => Promise<void>): Promise<void> {
    const pause_ms = Math.min((polled.get(transaction_id)?.pause_ms ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS);
    await poll();
    polled.set(transaction_id, { pause_ms, next_at: Date.now() + pause_ms });
  }

  return async (transaction_id, poll) => {
    const under_way = running.get(transaction_id);
    if (under_way !== undefined) return await under_way;
    if (Date.now() < (polled.get(transaction_id)?.next_at ?? 0)) return;
    const started = run(transaction_id, poll).finally(() => running.delete(transaction_id));
    running.set(transaction_id, started);
    await started;
  };
}
