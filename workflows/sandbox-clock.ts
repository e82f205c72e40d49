import { allHandlersFinished, condition, setCurrentDetails } from '@temporalio/workflow';
import { oneAtATime } from '../src/domain/one-at-a-time';
import type { BegunAdvance, ClockProgress, StartedClock } from '../src/domain/sandbox-clock';
import { localActivities, advancingClock } from './activities';
import { afterEvents } from './object/activation';
import { ObjectClock, temporalClock } from './object/clock';
import { setUpdateHandler } from './inputs';
import { advanceClockUpdate, type AdvanceClockInput } from './messages';
import { Waits } from './object/wait';

/** The update is answered within this time; remaining actions continue. Milliseconds. */
const ANSWER_AFTER_MS = 9_500;

/**
 * Advances the sandbox clock of a payment order or payment link and of all objects that use it (rules 23.6): from due
 * time to due time, one advance after the other. Ends when no advance is left. Started without one, it finishes the
 * advances that an earlier run left open.
 */
export async function sandboxClock(clock: StartedClock): Promise<void> {
  const inTurn = oneAtATime();
  /** Advances under way and waiting. */
  let open = 0;
  let isRequested = false;
  let hasLooked = false;
  const work = async <T>(what: () => Promise<T>): Promise<T> => {
    open += 1;
    return await inTurn(what).finally(() => (open -= 1));
  };

  setUpdateHandler(
    advanceClockUpdate,
    async ({ request_id, advance, versions }: AdvanceClockInput) => {
      isRequested = true;
      await afterEvents();
      let has_ended = false;
      const advanced = work(async () => {
        await finishEarlierAdvances();
        const now = temporalClock.now();
        await carryOut(await localActivities.beginClockAdvance({ ...clock, request_id, advance, versions, now }));
      });
      const end = () => {
        has_ended = true;
      };
      advanced.then(end, end);
      const wait = { milliseconds: ANSWER_AFTER_MS, summary: 'until the request is answered' };
      await new Waits(new ObjectClock()).pause(wait, () => has_ended);
      if (has_ended) await advanced;
    },
    {
      description: 'Advances the clock. Completes when all due actions are done, or after 9.5 seconds.',
    },
  );

  // Started without an advance: carries out the actions that are due at the current offset.
  if (!isRequested) {
    // A command in the task without a request: in no replay does a later request come with the start.
    await new Waits(new ObjectClock()).pause({ milliseconds: 1, summary: 'before it continues' }, () => false);
    await work(async () => {
      await finishEarlierAdvances();
      await advanceTo(0);
    });
  }
  await condition(() => open === 0 && allHandlersFinished());

  /** An earlier workflow of this clock may have been lost. */
  async function finishEarlierAdvances(): Promise<void> {
    if (hasLooked) return;
    for (const unfinished of await localActivities.unfinishedClockAdvances({ clock_id: clock.clock_id })) {
      await carryOut(unfinished);
    }
    hasLooked = true;
  }

  async function carryOut({ n, to_offset_ms }: BegunAdvance): Promise<void> {
    setCurrentDetails(`Advance ${n}: to ${to_offset_ms / 1_000} s ahead of real time.`);
    await advanceTo(to_offset_ms);
    // The processor's answers may have consequences, such as webhooks.
    const finished = await advancingClock.finishClockAdvance({ ...clock, n, poll: true, now: temporalClock.now() });
    if (finished === 'polled') {
      await advanceTo(to_offset_ms);
      await advancingClock.finishClockAdvance({ ...clock, n, poll: false, now: temporalClock.now() });
    }
    setCurrentDetails(`Advance ${n} is finished: ${to_offset_ms / 1_000} s ahead of real time.`);
  }

  async function advanceTo(to_offset_ms: number): Promise<void> {
    let progress: ClockProgress | undefined;
    do progress = await advancingClock.advanceToNextDue({ ...clock, to_offset_ms, progress, now: temporalClock.now() });
    while (!progress.is_finished);
  }
}
