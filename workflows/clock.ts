/**
 * The clock of one order, payment link or webhook, in epoch milliseconds: Temporal's, and in a test project
 * ahead of it by as much as its merchant has moved it (rules 23.4). Workflows ask it instead of `Date.now()`, and pass
 * the time to activities.
 */
export class ObjectClock {
  private offset = 0;
  private is_stale = false;
  private is_being_read = false;

  now(): number {
    return Date.now() + this.offset;
  }

  get offset_ms(): number {
    return this.offset;
  }

  /**
   * Moves it ahead of real time by `offset_ms` (milliseconds), as the record has it. It never goes back, so what arrives
   * late does no harm. Throws for anything but a whole number: waits compare instants, and NaN compares with nothing.
   */
  moveTo(offset_ms: number): void {
    if (!Number.isSafeInteger(offset_ms)) throw new RangeError('a clock is moved by whole milliseconds');
    this.offset = Math.max(this.offset, offset_ms);
  }

  /**
   * Moves it to where the record has it: the only source, as the database moves no clock of a live object (rules 23.11).
   * `read`: returns the recorded offset, `undefined` when there is none. Calls while it is read make one more reading,
   * however many there are.
   */
  async refresh(read: () => Promise<number | undefined>): Promise<void> {
    this.is_stale = true;
    if (this.is_being_read) return;
    this.is_being_read = true;
    try {
      while (this.is_stale) {
        this.is_stale = false;
        const offset_ms = await read();
        if (offset_ms !== undefined) this.moveTo(offset_ms);
      }
    } finally {
      this.is_being_read = false;
    }
  }
}

/** Temporal's time, for what belongs to no object. */
export const temporalClock: Pick<ObjectClock, 'now'> = new ObjectClock();
