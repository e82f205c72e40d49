import { setTimeout as sleep } from 'node:timers/promises';
import { takePlaces } from '../../src/domain/places';
import type { Logger } from '../../src/log';
import type { WaitPreference } from '../operation';

/** How many requests of a project, and of all, wait in one api process (rules 18.10). */
export const WAITING_MAX = { per_project: 100, all: 2_000 };
/**
 * From one look at what requests wait for to the next, in milliseconds; after one that failed. A request learns of a
 * change within this time and that of a look, which with a thousand orders takes a few milliseconds.
 */
const PAUSE_MS = { next: 15, failed: 500 };

/** The places of the requests of this process that wait, whatever they wait for (rules 18.10). */
export class WaitingPlaces {
  private readonly taken = new Map<string, number>();

  /** Takes a place: call the result when it is free again. `undefined`: too many requests wait. */
  take(project_id: string): (() => void) | undefined {
    return takePlaces(this.taken, [
      { caller: 'all', at_once: WAITING_MAX.all },
      { caller: project_id, at_once: WAITING_MAX.per_project },
    ]);
  }
}

interface Waiting<Known> {
  known: Known;
  /** Ends the wait. */
  end: () => void;
}

/**
 * The requests of this process that wait for a change of what they know (rules 5.12). While there are any, one
 * statement looks at all of it at a time. Nothing is done for what no request waits for: a NOTIFY with each move would
 * have Postgres commit the moves one after another. It needs no connection of its own, and what it misses while
 * Postgres does not answer it sees afterwards.
 */
export class WaitingRequests<Known> {
  private readonly waiting = new Set<Waiting<Known>>();
  private looking: Promise<void> | undefined;
  private is_closed = false;

  /** `what` requests wait for, in words; `findChanged` returns those of the known that have changed. */
  constructor(
    private readonly what: string,
    private readonly findChanged: (known: readonly Known[]) => Promise<readonly Known[]>,
    private readonly log: Logger,
    private readonly places: WaitingPlaces,
  ) {}

  /** The wait for a change of `known`. It does not begin, and is `undefined`, when too many requests wait. */
  begin(project_id: string, known: Known, wait: WaitPreference): Promise<void> | undefined {
    if (this.is_closed) return undefined;
    const leave = this.places.take(project_id);
    if (leave === undefined) return undefined;
    wait.apply();
    const ended = wait.begin();
    return this.changeOf(known, wait).finally(() => {
      ended();
      leave();
    });
  }

  /** Ends all waits, and lets no further one begin. */
  async close(): Promise<void> {
    this.is_closed = true;
    for (const { end } of this.waiting) end();
    await this.looking;
  }

  private async changeOf(known: Known, wait: WaitPreference): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        this.waiting.delete(waiting);
        clearTimeout(timer);
        stopWatching();
        resolve();
      };
      const waiting: Waiting<Known> = { known, end };
      const timer = setTimeout(end, Math.max(0, wait.until - Date.now()));
      const stopWatching = wait.onLeave(end);
      this.waiting.add(waiting);
      if (wait.hasLeft()) end();
      else this.looking ??= this.look();
    });
  }

  /** Looks at what is waited for as long as there are waits. Never rejects. */
  private async look(): Promise<void> {
    let has_failed = false;
    while (this.waiting.size > 0) {
      await sleep(has_failed ? PAUSE_MS.failed : PAUSE_MS.next);
      if (this.waiting.size === 0) break;
      try {
        const waiting = [...this.waiting];
        const changed = new Set(await this.findChanged(waiting.map(({ known }) => known)));
        for (const { known, end } of waiting) if (changed.has(known)) end();
        has_failed = false;
      } catch (error) {
        if (!has_failed) this.log.warn({ err: error }, `cannot read the ${this.what} that requests wait for`);
        has_failed = true;
      }
    }
    this.looking = undefined;
  }
}
