/**
 * The clock of one order, payment link or webhook, in epoch milliseconds: Temporal's, and in a test project
 * ahead of it by as much as its merchant has moved it (rules 23.4). Workflows ask it instead of `Date.now()`, and pass
 * the time to activities.
 */
export class ObjectClock {
  private offset = 0;

  now(): number {
    return Date.now() + this.offset;
  }

  get offset_ms(): number {
    return this.offset;
  }

  /**
   * Moves it ahead of real time by `offset_ms` (milliseconds), as the record has it: the only source, as the database
   * moves no clock of a live object (rules 23.11). It never goes back, so what arrives late does no harm. Throws for anything but a whole number: waits compare instants, and NaN compares with nothing.
   */
  advanceTo(offset_ms: number): void {
    if (!Number.isSafeInteger(offset_ms)) throw new RangeError('a clock is moved by whole milliseconds');
    this.offset = Math.max(this.offset, offset_ms);
  }
}

/** Temporal's time, for what belongs to no object. */
export const temporalClock: Pick<ObjectClock, 'now'> = new ObjectClock();
