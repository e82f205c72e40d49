import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../src/db/connection';
import { beginMove, finishMove, setClock, unfinishedMoves } from '../src/db/sandbox-clocks';
import { LONGEST } from '../src/domain/duration';
import type { BegunMove, ClockMove, StartedClock } from '../src/domain/sandbox-clock';
import { validationError } from '../src/errors';
import { dueAt, findWaits, keysOf, type ClockWait } from './sandbox-clock-waits';
import { withFailures } from './failure';
import type { AtTime, Services } from './services';

/** How far a move has come. */
export interface ClockProgress {
  is_finished: boolean;
  /** What fell due and has not happened, and how long that has been waited for. Milliseconds. */
  awaited: string[];
  waited_ms: number;
  /** What is not waited for any longer. */
  given_up: string[];
}

/** An activity of a move lasts no longer, so that no slot of the worker is held. Milliseconds. */
const SLICE_MS = 2_000;
/** What falls due usually happens within milliseconds; a receiver of webhooks may take 20 seconds. Milliseconds. */
const LOOK_AGAIN_MS = { first: 10, longest: 200 };
/**
 * What has not happened by then waits for somebody else, such as a processor that does not answer: the clock moves on.
 * Milliseconds.
 */
const PATIENCE_MS = 30_000;

/**
 * Activities of a sandbox clock's workflow (rules 23.6). The clock moves from due time to due time, and what falls due
 * happens before it moves on. Repeat-safe: the record has the clock, its moves and all that waits. Their `now` is real
 * time.
 */
export function sandboxClockActivities(services: Pick<Services, 'db' | 'workflows'>) {
  const { db } = services;
  return withFailures({
    /** Writes the beginning of a move. Throws ValidationError when it does not go ahead, or too far. */
    async beginClockMove(input: StartedClock & { request_id: string; move: ClockMove } & AtTime): Promise<BegunMove> {
      const begun = await beginMove(db, input, input);
      if (begun !== undefined) return begun;
      throw input.move.to === undefined
        ? validationError('advance', `The clock can be moved by ${LONGEST.sandbox_clock} in all.`)
        : validationError('to', `Has to be ahead of the object's time, by ${LONGEST.sandbox_clock} in all at most.`);
    },

    /** The moves that were begun and are not finished, in their order. */
    unfinishedClockMoves: ({ clock_id }: { clock_id: string }): Promise<BegunMove[]> => unfinishedMoves(db, clock_id),

    /** Moves the clock on, for a short while. `progress` is that of the call before. */
    async advanceClock(
      input: StartedClock & { to_offset_ms: number; progress?: ClockProgress | undefined } & AtTime,
    ): Promise<ClockProgress> {
      const began = Date.now();
      const now = () => input.now + Date.now() - began;
      let progress = input.progress ?? START;
      let pause = LOOK_AGAIN_MS.first;
      for (let looked_at = now(); !progress.is_finished && now() - input.now < SLICE_MS;) {
        const { offset_ms, waits } = await findWaits(services, input, now());
        const due = dueAt(waits, now() + offset_ms).filter(({ key }) => !progress.given_up.includes(key));
        if (due.length === 0) {
          progress = await moveOn(db, { ...input, offset_ms, waits, given_up: progress.given_up }, now);
          looked_at = now();
          continue;
        }
        const is_same = keysOf(due).join() === progress.awaited.join();
        const waited_ms = is_same ? progress.waited_ms + now() - looked_at : 0;
        looked_at = now();
        progress = { ...progress, awaited: keysOf(due), waited_ms };
        if (waited_ms >= PATIENCE_MS) progress.given_up = [...progress.given_up, ...progress.awaited];
        // Its workflow may be gone, or may not know the clock's last move.
        else if (!is_same) await Promise.all(due.map(({ moveClock }) => moveClock(offset_ms)));
        pause = is_same ? Math.min(2 * pause, LOOK_AGAIN_MS.longest) : LOOK_AGAIN_MS.first;
        await sleep(pause);
      }
      return progress;
    },

    /**
     * The end of a move. With `ask`, every open outcome is asked for first, once; `asked` then says that its answers
     * are still to be followed. Otherwise the move is `finished`.
     */
    async finishClockMove({
      n,
      ask,
      ...clock
    }: StartedClock & { n: number; ask: boolean } & AtTime): Promise<'asked' | 'finished'> {
      const polls = ask
        ? (await findWaits(services, clock, clock.now)).waits.filter(({ is_poll }) => is_poll === true)
        : [];
      if (polls.length === 0) {
        await finishMove(db, { clock_id: clock.clock_id, n });
        return 'finished';
      }
      const began = Date.now();
      await Promise.all(polls.flatMap(({ poll }) => poll?.() ?? []));
      const asked = new Set(keysOf(polls));
      do await sleep(LOOK_AGAIN_MS.first);
      while (
        Date.now() - began < SLICE_MS &&
        (await findWaits(services, clock, clock.now)).waits.some(({ key }) => asked.has(key))
      );
      return 'asked';
    },
  });
}

/** Before the first look. */
const START: ClockProgress = { is_finished: false, awaited: [], waited_ms: 0, given_up: [] };

/** The end of a move, and what waits by the clock before it moves on. */
interface Situation extends StartedClock {
  to_offset_ms: number;
  offset_ms: number;
  waits: readonly ClockWait[];
  given_up: string[];
}

/** Moves the clock on to what falls due next, at most to the end of the move. `now` is real time. */
async function moveOn(db: Database, situation: Situation, now: () => number): Promise<ClockProgress> {
  const { clock_id, to_offset_ms, offset_ms, waits, given_up } = situation;
  const next = waits.find(({ at, is_poll }) => is_poll !== true && at > now() + offset_ms);
  const next_offset_ms = next === undefined ? Infinity : next.at - now();
  const is_finished = next_offset_ms > to_offset_ms;
  const moved_to = Math.max(offset_ms, is_finished ? to_offset_ms : next_offset_ms);
  await setClock(db, { clock_id, offset_ms: moved_to, now: now() });
  await Promise.all(waits.map(({ moveClock }) => moveClock(moved_to)));
  const awaited = keysOf(dueAt(waits, now() + moved_to)).filter((key) => !given_up.includes(key));
  return { is_finished, awaited, waited_ms: 0, given_up };
}
