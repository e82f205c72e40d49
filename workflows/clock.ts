/**
 * The clock of one order, payment link or webhook, in epoch milliseconds: Temporal's, and in a test project
 * ahead of it by as much as its merchant has moved it (rules 23.4). Workflows ask it instead of `Date.now()`, and pass
 * the time to activities.
 */
export class ObjectClock {
  /** `offset_ms`: how far it is ahead of real time, in milliseconds. */
  constructor(private offset = 0) {}

  now(): number {
    return Date.now() + this.offset;
  }

  get offset_ms(): number {
    return this.offset;
  }

  /** Moves it ahead. It never goes back, so what arrives late does no harm. */
  moveTo(offset_ms: number): void {
    this.offset = Math.max(this.offset, offset_ms);
  }
}

/** Temporal's time, for what belongs to no object. */
export const temporalClock: Pick<ObjectClock, 'now'> = new ObjectClock();
