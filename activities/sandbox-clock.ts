import { setTimeout as sleep } from 'node:timers/promises';
import { findClockWaits } from '../src/db/clock-waits';
import { beginMove, finishMove, setClock, unfinishedMoves } from '../src/db/sandbox-clocks';
import { LONGEST } from '../src/domain/duration';
import type { BegunMove, ClockMove, StartedClock } from '../src/domain/sandbox-clock';
import { deliveryWait, linkWait, minorUnitsInWords, waitsOf, watchWait, type Wait } from '../src/domain/waits';
import { validationError } from '../src/errors';
import type { FollowUpInput } from '../workflows/messages';
import { withFailures } from './failure';
import type { AtTime, Services } from './services';

/** What an object of a clock waits for, and how its workflow learns that the clock was moved. */
interface ClockWait extends Wait {
  /** Names it: the same while it waits for the same. */
  key: string;
  moveClock: (offset_ms: number) => Promise<void>;
  /** Only of a question to the processor: asks it now. */
  poll?: () => Promise<void>;
}

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
export function sandboxClockActivities({ db, workflows }: Pick<Services, 'db' | 'workflows'>) {
  /** Everything that waits by the clock, the next first. */
  async function waitsBy({ clock_id, project_id }: StartedClock, now: number) {
    const { offset_ms, payment_link, orders, follow_ups, deliveries, watches } = await findClockWaits(db, clock_id);
    const waits: ClockWait[] = [];
    const add = (
      key: string,
      wait: Wait | undefined,
      moveClock: ClockWait['moveClock'],
      poll?: () => Promise<void>,
    ) => {
      if (wait === undefined) return;
      waits.push({ ...wait, key: `${key} ${wait.event} ${wait.at}`, moveClock, ...(poll && { poll }) });
    };
    if (payment_link !== undefined) {
      const link = { id: clock_id, project_id };
      add(clock_id, linkWait(payment_link), (to) => workflows.payment_links.moveClock(link, to));
    }
    for (const order of orders) {
      const { id: order_id } = order;
      const moveClock = (to: number) => workflows.orders.moveClock({ order_id, project_id }, to);
      const poll = () => workflows.orders.requestPoll(order_id);
      for (const wait of waitsOf(order, minorUnitsInWords)) add(order_id, wait, moveClock, poll);
    }
    for (const { order, ...input } of follow_ups) {
      const moveClock = (to: number) => workflows.follow_ups.moveClock(input satisfies FollowUpInput, to);
      const poll = () => workflows.follow_ups.requestPoll(order.id);
      for (const wait of waitsOf(order, minorUnitsInWords)) add(order.id, wait, moveClock, poll);
    }
    for (const delivery of deliveries) {
      const key = `${delivery.order_id}:${delivery.n}`;
      add(key, deliveryWait(delivery), (to) => workflows.deliveries.moveClock(delivery, to));
    }
    for (const watch of watches) {
      add(watch.transaction_id, watchWait(watch), (to) =>
        workflows.follow_ups.moveReversalClock(watch, { offset_ms: to, now: now + to }),
      );
    }
    return { offset_ms, waits: waits.toSorted((a, b) => a.at - b.at) };
  }

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
      const { clock_id, to_offset_ms } = input;
      const began = Date.now();
      const now = () => input.now + Date.now() - began;
      let { awaited, waited_ms, given_up }: Omit<ClockProgress, 'is_finished'> = input.progress ?? START;
      let pause = LOOK_AGAIN_MS.first;
      for (let looked_at = now(); now() - input.now < SLICE_MS;) {
        const { offset_ms, waits } = await waitsBy(input, now());
        const due = dueOf(waits, now() + offset_ms).filter(({ key }) => !given_up.includes(key));
        const is_same = keysOf(due).join() === awaited.join();
        waited_ms = is_same ? waited_ms + now() - looked_at : 0;
        awaited = keysOf(due);
        looked_at = now();
        if (due.length > 0 && waited_ms >= PATIENCE_MS) given_up = [...given_up, ...awaited];
        else if (due.length > 0) {
          // Its workflow may be gone, or may not know the clock's last move.
          if (!is_same) await Promise.all(due.map(({ moveClock }) => moveClock(offset_ms)));
          pause = is_same ? Math.min(2 * pause, LOOK_AGAIN_MS.longest) : LOOK_AGAIN_MS.first;
          await sleep(pause);
        } else {
          const next = waits.find(({ at, is_poll }) => is_poll !== true && at > now() + offset_ms);
          const next_offset_ms = next === undefined ? Infinity : next.at - now();
          const is_finished = next_offset_ms > to_offset_ms;
          const moved_to = Math.max(offset_ms, is_finished ? to_offset_ms : next_offset_ms);
          await setClock(db, { clock_id, offset_ms: moved_to, now: now() });
          await Promise.all(waits.map(({ moveClock }) => moveClock(moved_to)));
          awaited = keysOf(dueOf(waits, now() + moved_to).filter(({ key }) => !given_up.includes(key)));
          if (is_finished) return { is_finished, awaited, waited_ms: 0, given_up };
        }
      }
      return { is_finished: false, awaited, waited_ms, given_up };
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
      const polls = ask ? (await waitsBy(clock, clock.now)).waits.filter(({ is_poll }) => is_poll === true) : [];
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
        (await waitsBy(clock, clock.now)).waits.some(({ key }) => asked.has(key))
      );
      return 'asked';
    },
  });
}

const START: ClockProgress = { is_finished: false, awaited: [], waited_ms: 0, given_up: [] };

/** What is to have happened at that time of the clock, epoch milliseconds. */
const dueOf = (waits: readonly ClockWait[], time: number) =>
  waits.filter(({ at, is_poll }) => is_poll !== true && at <= time);

const keysOf = (waits: readonly ClockWait[]) => waits.map(({ key }) => key);
