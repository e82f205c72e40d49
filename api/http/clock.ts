import type { StoredOrder } from '../../src/db/orders/stored-order';

/**
 * Returns the current time, in epoch milliseconds. Deadlines, rate limits and tokens keep real time instead.
 */
export interface Clock {
  now(): number;
}

/** Real time, for everything that belongs to no order. */
export const clock: Clock = { now: () => Date.now() };

/** The clock of an order or payment link, for its windows and timestamps (rules 23.4). */
export function clockOf({ clock_offset_ms }: Pick<StoredOrder, 'clock_offset_ms'>): Clock {
  return { now: () => Date.now() + clock_offset_ms };
}
