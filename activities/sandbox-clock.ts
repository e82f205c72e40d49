import { setTimeout as sleep } from 'node:timers/promises';
import { beginAdvance, finishAdvance, setClock, unfinishedAdvances } from '../src/db/sandbox-clocks/sandbox-clocks';
import { MAX_DURATION } from '../src/domain/duration';
import {
  ADVANCE_BEGINS,
  keysOf,
  nextClockStep,
  type BegunAdvance,
  type ClockAdvance,
  type ClockProgress,
  type StartedClock,
} from '../src/domain/sandbox-clock';
import { validationError } from '../src/errors';
import { findWaits } from './sandbox-clock-waits';
import type { AtTime, ActivityServices } from './services';

/** An activity of a move lasts no longer, so that no slot of the worker is held. Milliseconds. */
const SLICE_MS = 2_000;
/** What falls due usually happens within milliseconds; a receiver of webhooks may take 20 seconds. Milliseconds. */
const LOOK_AGAIN_MS = { first: 10, longest: 200 };

/**
 * Activities of a sandbox clock's workflow (rules 23.6). The clock moves from due time to due time, and what falls due
 * happens before it moves on. Repeat-safe: the record has the clock, its moves and all that waits. Their `now` is real
 * time.
 */

/**
 * Writes the beginning of a move. Throws ValidationError when it does not go ahead, or too far; Forbidden for an object
 * without a clock of its own.
 */
export async function beginClockAdvance(
  { db }: ActivityServices,
  input: StartedClock & { request_id: string; move: ClockAdvance } & AtTime,
): Promise<BegunAdvance> {
  const begun = await beginAdvance(db, input, input);
  if (begun !== undefined) return begun;
  throw input.move.to === undefined
    ? validationError('advance', `The clock can be moved by ${MAX_DURATION.sandbox_clock} in all.`)
    : validationError('to', `Has to be ahead of the object's time, by ${MAX_DURATION.sandbox_clock} in all at most.`);
}

/** The moves that were begun and are not finished, in their order. */
export const unfinishedClockAdvances = async ({ db }: ActivityServices, { clock_id }: { clock_id: string }) =>
  await unfinishedAdvances(db, clock_id);

/** Moves the clock on, for a short while. `progress` is that of the call before. */
export async function advanceToNextDue(
  services: ActivityServices,
  input: StartedClock & { to_offset_ms: number; progress?: ClockProgress | undefined } & AtTime,
): Promise<ClockProgress> {
  const began = Date.now();
  const now = () => input.now + Date.now() - began;
  let progress = input.progress ?? ADVANCE_BEGINS;
  let pause = LOOK_AGAIN_MS.first;
  for (let looked_at = now(); !progress.is_finished && now() - input.now < SLICE_MS;) {
    const { offset_ms, waits } = await findWaits(services, input, now());
    const at = now();
    const step = nextClockStep(progress, {
      waits,
      offset_ms,
      to_offset_ms: input.to_offset_ms,
      now: at,
      passed_ms: at - looked_at,
    });
    progress = step.progress;
    looked_at = at;
    if (step.offset_ms > offset_ms) await setClock(services.db, { ...input, offset_ms: step.offset_ms, now: at });
    await Promise.all(step.signalled.map(({ advanceClock }) => advanceClock(step.offset_ms)));
    pause = step.signalled.length > 0 ? LOOK_AGAIN_MS.first : Math.min(2 * pause, LOOK_AGAIN_MS.longest);
    // After a move the next look comes at once: what fell due may have happened already.
    if (step.offset_ms === offset_ms) await sleep(pause);
  }
  return progress;
}

/**
 * The end of a move. With `ask`, every open outcome is asked for first, once; `asked` then says that its answers are
 * still to be followed. Otherwise the move is `finished`.
 */
export async function finishClockAdvance(
  services: ActivityServices,
  { n, ask, ...clock }: StartedClock & { n: number; ask: boolean } & AtTime,
): Promise<'asked' | 'finished'> {
  const openPolls = async () =>
    (await findWaits(services, clock, clock.now)).waits.filter(({ is_poll }) => is_poll === true);
  const polls = ask ? await openPolls() : [];
  if (polls.length === 0) {
    await finishAdvance(services.db, { clock_id: clock.clock_id, n });
    return 'finished';
  }
  const began = Date.now();
  await Promise.all(polls.flatMap(({ poll }) => poll?.() ?? []));
  const asked = new Set(keysOf(polls));
  do await sleep(LOOK_AGAIN_MS.first);
  while (Date.now() - began < SLICE_MS && (await openPolls()).some(({ key }) => asked.has(key)));
  return 'asked';
}
