import { LRUCache } from 'lru-cache';

/** The endpoint of a webhook: a host of one project, so that receivers of different projects are judged separately. */
interface Endpoint {
  project_id: string;
  url: string;
}

/** Attempts of one project at once to endpoints that answered at once the last time. */
const QUICK_AT_ONCE = 20;
/** Attempts to endpoints without a known speed. */
const UNKNOWN_AT_ONCE = 2;
/** How long an answer, or its absence, counts. Milliseconds. */
const REMEMBERED_MS = 15 * 60_000;
const ENDPOINTS_REMEMBERED = 10_000;

/**
 * Decides which attempts may be made inside a workflow task of this worker. That is the cheapest way, but the attempt
 * holds one of the worker's slots for workflow tasks, of which all projects need one; so an endpoint has to have shown
 * that it answers at once. All other attempts are tasks of their own: they wait on a queue that Temporal serves by
 * project in turn, and hold slots of which there are many.
 *
 * Each worker learns by itself. A worker that starts knows no endpoint, and pays for each slow one with UNKNOWN_AT_ONCE
 * slots, once.
 */
export class LocalAttempts {
  private readonly running = new Map<string, number>();
  private readonly slow = new LRUCache<string, boolean>({ max: ENDPOINTS_REMEMBERED, ttl: REMEMBERED_MS });

  /** Takes a place for one attempt: call the result when it has ended. `undefined`: it may not be made here. */
  begin(endpoint: Endpoint): (() => void) | undefined {
    const { project_id } = endpoint;
    const slow = this.slow.get(keyOf(endpoint));
    const running = this.running.get(project_id) ?? 0;
    if (slow === true || running >= (slow === undefined ? UNKNOWN_AT_ONCE : QUICK_AT_ONCE)) return undefined;
    this.running.set(project_id, running + 1);
    return () => {
      const left = (this.running.get(project_id) ?? 1) - 1;
      if (left > 0) this.running.set(project_id, left);
      else this.running.delete(project_id);
    };
  }

  /** Remembers how the endpoint behaved, at any attempt. */
  learn(endpoint: Endpoint, is_slow: boolean): void {
    this.slow.set(keyOf(endpoint), is_slow);
  }
}

const keyOf = ({ project_id, url }: Endpoint) => `${project_id} ${new URL(url).host}`;
