import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import type { ObjectClock } from './clock';

/** The summary of a wait, which the Web UI shows with its timer. */
interface Awaited {
  summary: string;
}

interface Timer extends Awaited {
  at: number;
  offset_ms: number;
  has_fired: boolean;
  /** Why it could not be started. */
  failure?: Error;
  scope: CancellationScope;
}

/**
 * The only way in which workflows wait for time. A wait ends at an instant of the object's clock, or earlier when its
 * condition is met. It wakes when the clock is advanced (rules 23.4). A workflow has one timer at a time; a wait that
 * is interrupted and repeated for the same instant and reason reuses it, which costs no event.
 */
export class Waits {
  private timer: Timer | undefined;

  constructor(private readonly clock: ObjectClock) {}

  /** Waits until the clock shows `at` (epoch milliseconds) or `isMet`. Resolves to whether `isMet`. */
  async until({ at, summary }: Awaited & { at: number }, isMet: () => boolean): Promise<boolean> {
    while (!isMet()) {
      const left = at - this.clock.now();
      if (left <= 0) return false;
      // With NaN this loop would not end, and Node ends a worker when the SDK interrupts its workflow.
      if (!Number.isFinite(left)) throw new RangeError('a wait has to end at an instant');
      const timer = this.keepOrStart({ at, summary }, left);
      await condition(
        () => isMet() || timer.has_fired || timer.failure !== undefined || this.clock.offset_ms !== timer.offset_ms,
      );
      if (timer.failure !== undefined) throw timer.failure;
      if (timer.has_fired && timer.offset_ms === this.clock.offset_ms) return isMet();
    }
    return true;
  }

  /** Waits in real time, for example between two polls of the processor. Resolves to whether `isMet` ended it. */
  async pause({ milliseconds, summary }: Awaited & { milliseconds: number }, isMet: () => boolean): Promise<boolean> {
    this.stop();
    return await condition(isMet, milliseconds, { summary });
  }

  /** Waits until `isMet`, without a time limit. */
  async untilMet(isMet: () => boolean): Promise<void> {
    this.stop();
    await condition(isMet);
  }

  private keepOrStart({ at, summary }: Awaited & { at: number }, left: number): Timer {
    const { offset_ms } = this.clock;
    const kept = this.timer;
    if (kept?.at === at && kept.summary === summary && kept.offset_ms === offset_ms && !kept.has_fired) return kept;
    this.stop();
    const timer: Timer = { at, summary, offset_ms, has_fired: false, scope: new CancellationScope() };
    const fired = () => {
      timer.has_fired = true;
    };
    const failed = (failure: Error) => {
      // Cancelled by `stop`.
      if (!isCancellation(failure)) timer.failure = failure;
    };
    void timer.scope.run(() => sleep(left, { summary })).then(fired, failed);
    this.timer = timer;
    return timer;
  }

  private stop(): void {
    if (this.timer?.has_fired === false) this.timer.scope.cancel();
    this.timer = undefined;
  }
}
