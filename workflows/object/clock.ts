/** When the clocks stopped; undefined while they run. Each run of a workflow has modules, and so clocks, of its own. */
let stopped_at: number | undefined;

/**
 * Stops the clocks of this workflow while a local activity runs. In a replay the signals, updates and timers that came
 * meanwhile arrive together with its result, when `Date.now()` is already the time of the result: decided by that time,
 * they could differ from the history. Returns how to let the clocks run again.
 */
export function stopClocks(): () => void {
  stopped_at = Date.now();
  return () => {
    stopped_at = undefined;
  };
}

/** The end of a timer moves stopped clocks on: it is an event of the history, also in a replay. */
export function moveStoppedClocks(at: number): void {
  if (stopped_at !== undefined) stopped_at = Math.max(stopped_at, at);
}

/**
 * The clock of one order, payment link or webhook, in epoch milliseconds: Temporal's time, plus the offset by which a
 * merchant has advanced it in a test project (rules 23.4). Workflows use it instead of `Date.now()`, and pass the time
 * to activities.
 */
export class ObjectClock {
  private offset = 0;

  now(): number {
    return (stopped_at ?? Date.now()) + this.offset;
  }

  get offset_ms(): number {
    return this.offset;
  }

  /**
   * Sets the offset to real time, in milliseconds, unless the clock would go back: a stale offset does no harm. The
   * record is its only source: the database keeps clocks of live projects at real time (rules 23.11). Throws unless
   * `offset_ms` is a whole number: waits compare instants, and any comparison with NaN is false.
   */
  advanceTo(offset_ms: number): void {
    const before = this.offset;
    this.setTo(offset_ms);
    this.offset = Math.max(before, offset_ms);
  }

  /** Likewise, also if the clock goes back: a record that was restored has the clock of its backup (rules 28.4). */
  setTo(offset_ms: number): void {
    if (!Number.isSafeInteger(offset_ms)) throw new RangeError('a clock is advanced by whole milliseconds');
    this.offset = offset_ms;
  }
}

/** Temporal's time, for work that belongs to no object. */
export const temporalClock: Pick<ObjectClock, 'now'> = new ObjectClock();
