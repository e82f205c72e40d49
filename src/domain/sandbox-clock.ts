/** Clocks of orders and payment links of test projects that can be moved ahead of real time (rules 23.4). */

/** A clock whose workflow is started. */
export interface StartedClock {
  clock_id: string;
  project_id: string;
}

/** How far a merchant wants a clock moved: by a period (milliseconds), or to an instant (epoch milliseconds). */
export type ClockMove = { advance_ms: number; to?: never } | { advance_ms?: never; to: number };

/** A move that was begun: how far the clock is ahead of real time at its end, in milliseconds. */
export interface BegunMove {
  n: number;
  to_offset_ms: number;
}
