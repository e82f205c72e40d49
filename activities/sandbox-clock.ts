import { setTimeout as sleep } from 'node:timers/promises';
import { beginAdvance, finishAdvance, setClock, unfinishedAdvances } from '../src/db/sandbox-clocks/sandbox-clocks';
import { MAX_DURATION } from '../src/domain/duration';
import {
  ADVANCE_BEGINS,
  keysOf,
  nextClockStep,
  type BegunAdvance,
  type ClockProgress,
  type StartedClock,
} from '../src/domain/sandbox-clock';
import { validationError } from '../src/errors';
import type { AdvanceClockInput } from '../workflows/messages';
import { findWaits } from './sandbox-clock-waits';
import type { TimeOfTry, ActivityServices } from './services';

/** Upper limit of one activity of an advance; a longer one would block a worker slot. Milliseconds. */
const SLICE_MS = 2_000;
/**
 * Pauses between two looks at the record. Due actions usually take milliseconds; a webhook receiver may take 20
 * seconds. Milliseconds.
 */
const LOOK_AGAIN_MS = { first: 10, longest: 200 };

/**
 * Activities of a sandbox clock's workflow (rules 23.6). The clock advances from due time to due time; due actions are
 * carried out before it goes on. Repeat-safe: the clock, its advances and all waits are in the record. `now` is real
 * time.
 */

/**
 * Writes the beginning of an advance. Throws ValidationError when it does not go ahead, or goes too far; Forbidden for
 * an object without a clock of its own; PreconditionFailed when that is at none of `versions`.
 */
export async function beginClockAdvance(
  { db }: ActivityServices,
  input: StartedClock & AdvanceClockInput & TimeOfTry,
): Promise<BegunAdvance> {
  const begun = await beginAdvance(db, input, input);
  if (begun !== undefined) return begun;
  throw input.advance.to === undefined
    ? validationError('advance', `The clock can be advanced by ${MAX_DURATION.sandbox_clock} in all.`)
    : validationError('to', `Has to be ahead of the object's time, by ${MAX_DURATION.sandbox_clock} in all at most.`);
}

/** The unfinished advances, in their order. */
export const unfinishedClockAdvances = async ({ db }: ActivityServices, { clock_id }: { clock_id: string }) =>
  await unfinishedAdvances(db, clock_id);

/** Advances the clock for at most SLICE_MS. `progress` is the result of the call before. */
export async function advanceToNextDue(
  services: ActivityServices,
  input: StartedClock & { to_offset_ms: number; progress?: ClockProgress | undefined } & TimeOfTry,
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
    // After a step look again at once: the due actions may be done already.
    if (step.offset_ms === offset_ms) await sleep(pause);
  }
  return progress;
}

/**
 * Finishes an advance. With `poll`, every open outcome is polled once first; then the result is `polled`, and the
 * workflow advances again to carry out the consequences. Otherwise `finished`.
 */
export async function finishClockAdvance(
  services: ActivityServices,
  { n, poll, ...clock }: StartedClock & { n: number; poll: boolean } & TimeOfTry,
): Promise<'polled' | 'finished'> {
  const openPolls = async () =>
    (await findWaits(services, clock, clock.now)).waits.filter(({ is_poll }) => is_poll === true);
  const polls = poll ? await openPolls() : [];
  if (polls.length === 0) {
    await finishAdvance(services.db, { clock_id: clock.clock_id, n });
    return 'finished';
  }
  const began = Date.now();
  await Promise.all(polls.flatMap((open) => open.poll?.() ?? []));
  const polled = new Set(keysOf(polls));
  do await sleep(LOOK_AGAIN_MS.first);
  while (Date.now() - began < SLICE_MS && (await openPolls()).some(({ key }) => polled.has(key)));
  return 'polled';
}
