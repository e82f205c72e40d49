import { ServiceError } from '../../src/errors';

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

/**
 * Limits how much work of one kind runs at a time, for each caller and in the process (rules 18.7). Work above the limit
 * of its caller waits, and above that is refused. Callers take turns: the work of one that sends much does not delay
 * the others' by more than what runs already.
 */
export interface ConcurrencyLimit {
  /**
   * Resolves once the caller may begin; the result must be called when the work has ended. Throws TooManyRequests when
   * too much of the caller's work waits already, and what `signal` is aborted with.
   */
  readonly acquire: (caller: string, signal?: AbortSignal) => Promise<Release>;
  /** Like `acquire`, around work that ends with its promise. */
  readonly run: <T>(caller: string, work: () => Promise<T>) => Promise<T>;
}

interface CallerQueue {
  running: number;
  waiting: (() => void)[];
}

export function createConcurrencyLimit(limits: Limits): ConcurrencyLimit {
  const { what, per_caller, running: running_max, running_first = running_max } = limits;
  /**
   * Callers with work. The caller whose work began or ended last is last, so that the next place goes to another one.
   */
  const callers = new Map<string, CallerQueue>();
  let running = 0;

  const mayBegin = (queue: CallerQueue) =>
    queue.running < per_caller.running && running < (queue.running === 0 ? running_first : running_max);

  function moveToEnd(caller: string, queue: CallerQueue): void {
    callers.delete(caller);
    callers.set(caller, queue);
    forgetIdle(caller, queue);
  }

  function forgetIdle(caller: string, queue: CallerQueue): void {
    if (queue.running === 0 && queue.waiting.length === 0) callers.delete(caller);
  }

  function begin(caller: string, queue: CallerQueue): void {
    running += 1;
    queue.running += 1;
    moveToEnd(caller, queue);
  }

  function end(caller: string, queue: CallerQueue): void {
    running -= 1;
    queue.running -= 1;
    moveToEnd(caller, queue);
    for (let next = nextToBegin(); next !== undefined; next = nextToBegin()) {
      const [name, waiter] = next;
      const start = waiter.waiting.shift()!;
      begin(name, waiter);
      start();
    }
  }

  function nextToBegin(): [string, CallerQueue] | undefined {
    return [...callers].find(([, queue]) => queue.waiting.length > 0 && mayBegin(queue));
  }

  async function acquire(caller: string, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const queue = callers.get(caller) ?? { running: 0, waiting: [] };
    callers.set(caller, queue);
    if (mayBegin(queue)) begin(caller, queue);
    else await untilBegun(caller, queue, signal);
    let has_ended = false;
    return () => {
      if (has_ended) return;
      has_ended = true;
      end(caller, queue);
    };
  }

  async function untilBegun(caller: string, queue: CallerQueue, signal: AbortSignal | undefined): Promise<void> {
    if (queue.waiting.length >= per_caller.waiting) {
      forgetIdle(caller, queue);
      const { running: most, waiting } = per_caller;
      throw new ServiceError('TooManyRequests', `At most ${most} ${what} run at a time, and ${waiting} wait.`);
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        queue.waiting.splice(queue.waiting.indexOf(start), 1);
        forgetIdle(caller, queue);
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

  return {
    acquire,
    async run(caller, work) {
      const release = await acquire(caller);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
