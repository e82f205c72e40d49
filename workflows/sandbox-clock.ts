import { allHandlersFinished, condition, setCurrentDetails } from '@temporalio/workflow';
import { oneAtATime } from '../src/domain/one-at-a-time';
import type { BegunAdvance, ClockProgress } from '../src/domain/sandbox-clock';
import { localActivities, advancingClock } from './activities';
import { ObjectClock, temporalClock } from './object/clock';
import { setUpdateHandler } from './inputs';
import { advanceClockUpdate, type AdvanceClockInput, type SandboxClockInput } from './messages';
import { Waits } from './object/wait';

/** An update is answered by then; what is not done goes on. Milliseconds. */
const ANSWER_AFTER_MS = 9_500;

/**
 * Moves the sandbox clock of a payment order or payment link, and of all that comes from it (rules 23.6): from due time
 * to due time, one move after the other. It ends when no move is left. Started without a move, it carries on what an
 * earlier one has left undone.
 */
export async function sandboxClock(clock: SandboxClockInput): Promise<void> {
  const inTurn = oneAtATime();
  /** Moves begun and waiting. */
  let open = 0;
  let hasLooked = false;
  const work = async <T>(what: () => Promise<T>): Promise<T> => {
    open += 1;
    return await inTurn(what).finally(() => (open -= 1));
  };

  setUpdateHandler(
    advanceClockUpdate,
    async ({ request_id, move }: AdvanceClockInput) => {
      let has_ended = false;
      const moving = work(async () => {
        await finishEarlierMoves();
        await carryOut(
          await localActivities.beginClockAdvance({ ...clock, request_id, move, now: temporalClock.now() }),
        );
      });
      const end = () => {
        has_ended = true;
      };
      moving.then(end, end);
      const wait = { milliseconds: ANSWER_AFTER_MS, summary: 'until the request is answered' };
      await new Waits(new ObjectClock()).pause(wait, () => has_ended);
      if (has_ended) await moving;
    },
    {
      description: 'Moves the clock ahead. Completes when everything that fell due has happened, or after ten seconds.',
    },
  );

  // Started without a move: its objects go on where they are.
  if (open === 0) {
    await work(async () => {
      await finishEarlierMoves();
      await advance(0);
    });
  }
  await condition(() => open === 0 && allHandlersFinished());

  /** Another workflow of this clock may have been lost. */
  async function finishEarlierMoves(): Promise<void> {
    if (hasLooked) return;
    for (const advance of await localActivities.unfinishedClockAdvances({ clock_id: clock.clock_id })) {
      await carryOut(advance);
    }
    hasLooked = true;
  }

  async function carryOut({ n, to_offset_ms }: BegunAdvance): Promise<void> {
    setCurrentDetails(`Move ${n} goes to ${to_offset_ms / 1_000} s ahead of real time.`);
    await advance(to_offset_ms);
    // The processor's answers may have consequences, such as webhooks.
    const finished = await advancingClock.finishClockAdvance({ ...clock, n, ask: true, now: temporalClock.now() });
    if (finished === 'asked') {
      await advance(to_offset_ms);
      await advancingClock.finishClockAdvance({ ...clock, n, ask: false, now: temporalClock.now() });
    }
    setCurrentDetails(`Move ${n} is finished: ${to_offset_ms / 1_000} s ahead of real time.`);
  }

  async function advance(to_offset_ms: number): Promise<void> {
    let progress: ClockProgress | undefined;
    do progress = await advancingClock.advanceToNextDue({ ...clock, to_offset_ms, progress, now: temporalClock.now() });
    while (!progress.is_finished);
  }
}
