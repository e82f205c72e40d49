import type { OrderView } from '../src/db/order-view';

/**
 * Tells the present time, in epoch milliseconds. Deadlines, rate limits and tokens do not ask it: they keep real time.
 */
export interface Clock {
  now(): number;
}

/** The clock of what belongs to no order. */
export const clock: Clock = { now: () => Date.now() };

/** The clock that an order or payment link lives by: its windows and timestamps (rules 23.4). */
export function clockOf({ clock_offset_ms }: Pick<OrderView, 'clock_offset_ms'>): Clock {
  return { now: () => Date.now() + clock_offset_ms };
}
