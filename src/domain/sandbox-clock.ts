import type { Wait } from './waits';

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

/** Something that waits by a clock; the key is the same while it waits for the same. */
export type KeyedWait = Pick<Wait, 'at' | 'is_poll'> & { key: string };

/** How far a move has come. */
export interface ClockProgress {
  is_finished: boolean;
  /** Keys of what falls due and has not happened, and how long that has been waited for. Milliseconds. */
  awaited: string[];
  waited_ms: number;
  /** Keys of what is not waited for any longer. */
  given_up: string[];
}

/** Before the record is read for the first time. */
export const MOVE_BEGINS: ClockProgress = { is_finished: false, awaited: [], waited_ms: 0, given_up: [] };

/**
 * What has not happened by then waits for somebody else, such as a processor that does not answer: the clock moves on.
 * Milliseconds.
 */
const PATIENCE_MS = 30_000;

/** The waits of a clock, the next first. `now` is real time, epoch milliseconds; the others are milliseconds. */
export interface ClockLook<W extends KeyedWait> {
  waits: readonly W[];
  /** How far the clock is ahead of real time, and is to be at the end of the move. */
  offset_ms: number;
  to_offset_ms: number;
  now: number;
  /** Since the look before. */
  passed_ms: number;
}

/** The next step of a move: how far the clock is ahead then, and the waits whose workflows are signalled that. */
export interface ClockStep<W extends KeyedWait> {
  progress: ClockProgress;
  offset_ms: number;
  signalled: readonly W[];
}

/**
 * The next step of a move (rules 23.6). While something is due, the clock stays: the workflows concerned are signalled
 * once, as they may be gone or not know the clock's last move, and it is waited for. Otherwise the clock goes to what
 * falls due next, at most to the end of the move.
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
  const moved_to = Math.max(offset_ms, is_finished ? to_offset_ms : next_offset_ms);
  return {
    progress: { is_finished, awaited: keysOf(dueWith(moved_to)), waited_ms: 0, given_up },
    offset_ms: moved_to,
    signalled: waits,
  };
}

export const keysOf = (waits: readonly KeyedWait[]) => waits.map(({ key }) => key);
