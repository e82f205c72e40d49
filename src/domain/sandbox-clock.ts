import type { Wait } from './waits';

/** Clocks of orders and payment links of test projects, which can be advanced (rules 23.4). */

/** A clock whose workflow is started. */
export interface StartedClock {
  clock_id: string;
  project_id: string;
}

/** How far a merchant advances a clock: by a period (milliseconds), or to an instant (epoch milliseconds). */
export type ClockAdvance = { advance_ms: number; to?: never } | { advance_ms?: never; to: number };

/** An advance that has begun, with the clock's offset to real time at its end, in milliseconds. */
export interface BegunAdvance {
  n: number;
  to_offset_ms: number;
}

/** A wait that depends on the clock. Its key stays the same while it waits for the same event. */
export type KeyedWait = Pick<Wait, 'at' | 'is_poll'> & { key: string };

/** The progress of an advance. */
export interface ClockProgress {
  is_finished: boolean;
  /** Keys of the due waits that have not finished, and how long the clock has waited for them, in milliseconds. */
  awaited: string[];
  waited_ms: number;
  /** Keys of the waits that the clock no longer waits for. */
  given_up: string[];
}

/** Before the record is read for the first time. */
export const ADVANCE_BEGINS: ClockProgress = { is_finished: false, awaited: [], waited_ms: 0, given_up: [] };

/**
 * A step that has not finished by then depends on an outside system, for example a processor that does not answer. The
 * clock goes on without it. Milliseconds.
 */
const PATIENCE_MS = 30_000;

/** The waits of a clock, the next first. `now` is real time, epoch milliseconds; the others are milliseconds. */
export interface ClockLook<W extends KeyedWait> {
  waits: readonly W[];
  /** The clock's offset to real time now, and at the end of the advance. */
  offset_ms: number;
  to_offset_ms: number;
  now: number;
  /** Time since the previous look. */
  passed_ms: number;
}

/** The next step of an advance: the clock's new offset, and the waits whose workflows are signalled. */
export interface ClockStep<W extends KeyedWait> {
  progress: ClockProgress;
  offset_ms: number;
  signalled: readonly W[];
}

/**
 * The next step of an advance (rules 23.6). While a wait is due, the clock stays and waits for it; its workflow is
 * signalled once, as it may be lost or may not know the clock's last step. Otherwise the clock goes to the next due
 * time, at most to the end of the advance.
 */
export function nextClockStep<W extends KeyedWait>(progress: ClockProgress, look: ClockLook<W>): ClockStep<W> {
  const { waits, offset_ms, to_offset_ms, now, passed_ms } = look;
  const { awaited, given_up } = progress;
  const dueWith = (offset: number) =>
    waits.filter(({ at, is_poll, key }) => is_poll !== true && at <= now + offset && !given_up.includes(key));
  const due = dueWith(offset_ms);
  if (due.length > 0) {
    const keys = keysOf(due);
    if (keys.join() !== awaited.join()) {
      return { progress: { ...progress, awaited: keys, waited_ms: 0 }, offset_ms, signalled: due };
    }
    const waited_ms = progress.waited_ms + passed_ms;
    const given_up_now = waited_ms >= PATIENCE_MS ? keys : [];
    const after = { ...progress, waited_ms, given_up: [...given_up, ...given_up_now] };
    return { progress: after, offset_ms, signalled: [] };
  }
  const next = waits.find(({ at, is_poll }) => is_poll !== true && at > now + offset_ms);
  const next_offset_ms = next === undefined ? Infinity : next.at - now;
  const is_finished = next_offset_ms > to_offset_ms;
  const reached = Math.max(offset_ms, is_finished ? to_offset_ms : next_offset_ms);
  return {
    progress: { is_finished, awaited: keysOf(dueWith(reached)), waited_ms: 0, given_up },
    offset_ms: reached,
    signalled: waits,
  };
}

export const keysOf = (waits: readonly KeyedWait[]) => waits.map(({ key }) => key);
