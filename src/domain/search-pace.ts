/** The pace at which changes of orders reach the search index (rules 20.12). Times in milliseconds. */
export const SEARCH_PACE = {
  /** A search counts as recent for this long. The API records a search at most once in `noted_every_ms`. */
  recent_ms: 120_000,
  noted_every_ms: 5_000,
  /** Without recent searches, changes are batched for this long: one large batch is cheaper than many small ones. */
  gathered_ms: 10_000,
  /** The first searches after a pause wait for the batch this long at most, and check for it at the interval below. */
  first_searches_wait_ms: 1_500,
  first_searches_ask_ms: 50,
  /** With recent searches, a change is found within this time. */
  found_within_ms: 700,
  /** The pause between two batches at least, between two looks for changes without any, and after a failure. */
  pause_min_ms: 200,
  look_ms: 300,
  failed_ms: 1_000,
  /** Changes in a batch, and orders that a rebuild sends at a time. */
  batch: 2_000,
  rebuild_batch: 5_000,
  /**
   * Batches that a rebuild sends ahead. Meilisearch merges queued batches and rewrites much of its file once per merge,
   * so many are faster. Changes queue behind them, so few are sent while the old index is in use.
   */
  rebuild_sent: { answering: 4, empty: 40 },
  /** Until the first question whether a batch is written; each later pause is twice as long, up to the most. */
  written_ask_ms: { first: 20, most: 160 },
} as const;

/** How far the index is behind the record. */
export interface IndexDelay {
  /** Searches have just resumed after a pause, and changes batched in it are not in the index yet. */
  is_behind: boolean;
  /** The age of the oldest change that the index has not seen, in milliseconds; 0 without one. */
  oldest_ms: number;
}

/**
 * The pause after a batch that took `batch_ms` and began `since_ms` ago: the next one begins as late as changes may be
 * found. A batch has a fixed cost, so fewer of them leave more of the machine to payments.
 */
export function pauseAfter({ written, batch_ms, since_ms }: { written: number; batch_ms: number; since_ms: number }) {
  const { look_ms, pause_min_ms, found_within_ms } = SEARCH_PACE;
  return written === 0 ? look_ms : Math.max(pause_min_ms, found_within_ms - batch_ms - since_ms);
}
