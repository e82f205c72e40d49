import type { OrderView } from '../src/db/order-view';

/** Tells the present time, in epoch milliseconds. Deadlines, rate limits and tokens do not ask it: they keep real time. */
export interface Clock {
  now(): number;
}

/** The clock of what belongs to no order. */
export const clock: Clock = { now: () => Date.now() };

/** The clock that an order or payment link lives by: its windows and timestamps. */
export function clockOf(_object: Pick<OrderView, 'id'>): Clock {
  return clock;
}
