import { LRUCache } from 'lru-cache';
import { isUsedUp, takePlaces, type Share } from '../domain/places';

/** The endpoint of a webhook: a host of one project, so that receivers of different projects are judged separately. */
interface Endpoint {
  merchant_id: string;
  project_id: string;
  url: string;
}

/** Attempts of one project at once to endpoints that answered at once the last time. */
const QUICK_AT_ONCE = 20;
/** Attempts to endpoints without a known speed. */
const UNKNOWN_AT_ONCE = 2;
/** Attempts of all projects of one merchant, who can make many: fewer than half of the slots. */
const MERCHANT_AT_ONCE = 2 * QUICK_AT_ONCE;
/** How long an answer, or its absence, counts. Milliseconds. */
const REMEMBERED_MS = 15 * 60_000;
const ENDPOINTS_REMEMBERED = 10_000;

/** Attempts that a worker makes at once as tasks of their own. An attempt is a socket that waits: many cost little. */
export const ATTEMPT_TASKS_AT_ONCE = 500;
/** A fifth of them: another project or merchant always has slots (rules 13.9). */
const PROJECT_TASKS_AT_ONCE = ATTEMPT_TASKS_AT_ONCE / 5;
const MERCHANT_TASKS_AT_ONCE = 2 * PROJECT_TASKS_AT_ONCE;

/** How soon and how late an attempt that found no slot asks again. Milliseconds. */
const ASKS_AFTER_MS = 2_000;
const ASKS_WITHIN_MS = 60_000;

/** The tasks of a project or merchant whose slots were taken. */
interface Queue {
  /** How long its attempts take, on average. Milliseconds. */
  attempt_ms: number;
  /** When the last of those that found no slot asks again, by the machine's monotonic clock. */
  last_turn: number;
}

/**
 * Decides which attempts this worker makes now. Inside a workflow task is the cheapest way, but the attempt holds one
 * of the worker's slots for workflow tasks, of which all projects need one; so an endpoint has to have shown that it
 * answers at once. All other attempts are tasks of their own: they wait on a queue that Temporal serves by project in
 * turn, and hold slots of which there are many.
 *
 * Each worker learns by itself. A worker that starts knows no endpoint, and pays for each slow one with UNKNOWN_AT_ONCE
 * slots, once.
 */
export class AttemptLimits {
  private readonly local = new Map<string, number>();
  private readonly tasks = new Map<string, number>();
  private readonly queues = new LRUCache<string, Queue>({ max: ENDPOINTS_REMEMBERED });
  private readonly slow = new LRUCache<string, boolean>({ max: ENDPOINTS_REMEMBERED, ttl: REMEMBERED_MS });

  /** Takes a place inside a workflow task: call the result when the attempt has ended. `undefined`: there is none. */
  beginLocally(endpoint: Endpoint): (() => void) | undefined {
    const slow = this.slow.get(keyOf(endpoint));
    if (slow === true) return undefined;
    return takePlaces(this.local, [
      { caller: endpoint.project_id, at_once: slow === undefined ? UNKNOWN_AT_ONCE : QUICK_AT_ONCE },
      { caller: endpoint.merchant_id, at_once: MERCHANT_AT_ONCE },
    ]);
  }

  /** Likewise for an attempt that is a task of its own. */
  beginTask(endpoint: Endpoint): (() => void) | undefined {
    const shares = taskShares(endpoint);
    const end = takePlaces(this.tasks, shares);
    if (end === undefined) return undefined;
    const began = performance.now();
    return () => {
      end();
      const latest_ms = performance.now() - began;
      for (const { caller } of shares) {
        const { attempt_ms, last_turn } = this.queueOf(caller);
        this.queues.set(caller, { attempt_ms: attempt_ms + (latest_ms - attempt_ms) / 10, last_turn });
      }
    };
  }

  /**
   * After how many milliseconds a task that found no slot asks again: in turn, twice as often as slots become free. So
   * a backlog asks as seldom as a few, and what comes later does not overtake it.
   */
  nextTurn(endpoint: Endpoint): number {
    const [project, merchant] = taskShares(endpoint);
    const { caller, at_once } = isUsedUp(this.tasks, merchant) ? merchant : project;
    const now = performance.now();
    const { attempt_ms, last_turn } = this.queueOf(caller);
    const in_turn = Math.max(now + ASKS_AFTER_MS, last_turn + attempt_ms / at_once / 2);
    const turn = Math.min(in_turn, now + ASKS_WITHIN_MS);
    this.queues.set(caller, { attempt_ms, last_turn: turn });
    return turn - now;
  }

  private queueOf(caller: string): Queue {
    return this.queues.get(caller) ?? { attempt_ms: 0, last_turn: 0 };
  }

  /** Remembers how the endpoint behaved, at any attempt. */
  learn(endpoint: Endpoint, is_slow: boolean): void {
    this.slow.set(keyOf(endpoint), is_slow);
  }
}

const keyOf = ({ project_id, url }: Endpoint) => `${project_id} ${new URL(url).host}`;

const taskShares = ({ project_id, merchant_id }: Endpoint): [project: Share, merchant: Share] => [
  { caller: project_id, at_once: PROJECT_TASKS_AT_ONCE },
  { caller: merchant_id, at_once: MERCHANT_TASKS_AT_ONCE },
];
