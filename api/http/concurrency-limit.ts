import { ServiceError } from '../../src/errors';
import { incrementCounter } from '../../src/metrics/recorder';
import { unlessAborted } from './unless-aborted';

/** Limits of concurrent work of one kind in this process. */
interface Limits {
  /** The limited work, as the error text names it: `searches`. */
  what: string;
  /** For one caller, for example a project. */
  per_caller: { running: number; waiting: number };
  /** For all callers together; a caller that may run more waits for it. */
  running: number;
  /** The same for a caller with no running work. If it is larger, callers with long work do not keep others waiting. */
  running_first?: number;
}

/** Ends the work, once. A second call does nothing. */
export type Release = () => void;

interface CallerQueue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Limits how much work of one kind runs at a time, for each caller and in the process (rules 18.7). Work above the
 * limit of its caller waits, and above that is refused. Callers take turns: the work of one that sends much does not
 * delay the others' by more than what runs already.
 */
export class ConcurrencyLimit {
  /**
   * Callers with work. The caller whose work began or ended last is last, so that the next place goes to another one.
   */
  private readonly callers = new Map<string, CallerQueue>();
  private running = 0;

  constructor(private readonly limits: Limits) {}

  /**
   * Resolves once the caller may begin; the result must be called when the work has ended. Throws TooManyRequests when
   * `waiting_max` of the caller's work wait already, and what `signal` is aborted with.
   */
  async acquire(caller: string, signal?: AbortSignal, waiting_max = this.limits.per_caller.waiting): Promise<Release> {
    signal?.throwIfAborted();
    const queue = this.callers.get(caller) ?? { running: 0, waiting: [] };
    this.callers.set(caller, queue);
    if (this.mayBegin(queue)) this.begin(caller, queue);
    else await this.untilBegun(caller, queue, signal, waiting_max);
    let has_ended = false;
    return () => {
      if (has_ended) return;
      has_ended = true;
      this.end(caller, queue);
    };
  }

  /**
   * Like `acquire`, around work that ends with its promise. Once `signal` is aborted, rejects with its reason; work that
   * has begun goes on without a listener, and keeps its place.
   */
  async run<T>(caller: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(caller, signal);
    const done = (async () => await work())().finally(release);
    return await (signal === undefined ? done : unlessAborted(done, signal));
  }

  private mayBegin(queue: CallerQueue): boolean {
    const { per_caller, running, running_first = running } = this.limits;
    return queue.running < per_caller.running && this.running < (queue.running === 0 ? running_first : running);
  }

  private begin(caller: string, queue: CallerQueue): void {
    this.running += 1;
    queue.running += 1;
    this.putLast(caller, queue);
  }

  private end(caller: string, queue: CallerQueue): void {
    this.running -= 1;
    queue.running -= 1;
    this.putLast(caller, queue);
    for (let next = this.nextToBegin(); next !== undefined; next = this.nextToBegin()) {
      const [name, waiter] = next;
      const start = waiter.waiting.shift()!;
      this.begin(name, waiter);
      start();
    }
  }

  private nextToBegin(): [string, CallerQueue] | undefined {
    return [...this.callers].find(([, queue]) => queue.waiting.length > 0 && this.mayBegin(queue));
  }

  private putLast(caller: string, queue: CallerQueue): void {
    this.callers.delete(caller);
    this.callers.set(caller, queue);
    this.forgetIdle(caller, queue);
  }

  private forgetIdle(caller: string, queue: CallerQueue): void {
    if (queue.running === 0 && queue.waiting.length === 0) this.callers.delete(caller);
  }

  private async untilBegun(
    caller: string,
    queue: CallerQueue,
    signal: AbortSignal | undefined,
    waiting_max: number,
  ): Promise<void> {
    const { what, per_caller } = this.limits;
    if (queue.waiting.length >= waiting_max) {
      this.forgetIdle(caller, queue);
      incrementCounter('payments_http_requests_refused_total', { limit: 'concurrency' });
      const { running, waiting } = per_caller;
      throw new ServiceError('TooManyRequests', `At most ${running} ${what} run at a time, and ${waiting} wait.`);
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        queue.waiting.splice(queue.waiting.indexOf(start), 1);
        this.forgetIdle(caller, queue);
        reject(signal!.reason as Error);
      };
      const start = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      queue.waiting.push(start);
    });
  }
}
