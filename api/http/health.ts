import { Router } from 'express';
import { DatabaseNotReady } from '../../src/db/availability';
import { ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import type { LabelsOf } from '../../src/metrics/catalogue';
import { gauge } from '../../src/metrics/recorder';
import { PROBE_TIMEOUT_MS } from '../../src/http-server';
import { withTimeLimit } from '../../src/time-limit';
import { answer } from './answer';
import { otherMethods } from './bind';

type Dependency = LabelsOf<'payments_dependency_available'>['dependency'];

/** A server that the API works with. */
export interface Probe {
  readonly name: string;
  /** Without it nothing can be served, so the process is not ready. Otherwise it is ready, and degraded. */
  readonly required: boolean;
  /** Rejects when it is unavailable. */
  readonly check: () => Promise<void>;
}

/** What the health of a process depends on beside its servers. */
interface Condition {
  /** Why the process is not live: what only its restart ends. */
  problem?: (() => string | undefined) | undefined;
  /** Whether it is about to close its listener (rules 2.9). */
  isDraining?: () => boolean;
}

/**
 * `/health/live`: the process answers, and has no problem. `/health/ready`: what it needs answers, each server by name;
 * 503 while a required one is unavailable (rules 2.7), and while it drains. The log names a server when it becomes
 * unavailable, with the cause, and when it is back.
 */
export function health(
  probes: readonly Probe[],
  log: Logger,
  { problem = () => undefined, isDraining = () => false }: Condition = {},
): Router {
  const unavailable = new Set<string>();
  const checked = new Set<string>();
  /** Checks under way: concurrent requests share their result. */
  const running = new Map<string, Promise<string | undefined>>();
  gauge('payments_dependency_available', () =>
    [...checked].map((name) => ({
      value: unavailable.has(name) ? 0 : 1,
      labels: { dependency: name as Dependency },
    })),
  );

  /** Why the server is unavailable, in words that show nothing of the installation; undefined if it is available. */
  function problemOf(probe: Probe): Promise<string | undefined> {
    const known = running.get(probe.name);
    if (known !== undefined) return known;
    const asked = ask(probe).finally(() => running.delete(probe.name));
    running.set(probe.name, asked);
    return asked;
  }

  async function ask({ name, check }: Probe): Promise<string | undefined> {
    try {
      await withTimeLimit(PROBE_TIMEOUT_MS, check());
      if (unavailable.delete(name)) log.info({ dependency: name }, 'a dependency is available again');
      return undefined;
    } catch (error) {
      if (!unavailable.has(name)) log.warn({ dependency: name, err: error }, 'a dependency is unavailable');
      unavailable.add(name);
      return error instanceof DatabaseNotReady ? `${name} ${error.message}` : name;
    } finally {
      checked.add(name);
    }
  }

  const router = Router({ caseSensitive: true });
  router
    .route('/health/live')
    .get((_request, response) => {
      const cause = problem();
      if (cause !== undefined) throw new ServiceError('ServiceUnavailable', `Not live: ${cause}.`);
      answer(response, 200, { status: 'live' });
    })
    .all(otherMethods(['get']));
  router
    .route('/health/ready')
    .get(async (_request, response) => {
      if (isDraining()) throw new ServiceError('ServiceUnavailable', 'Not ready: draining.');
      const results = await Promise.all(probes.map(async (probe) => ({ ...probe, problem: await problemOf(probe) })));
      const missing = results.flatMap(({ required, problem }) => (required && problem !== undefined ? [problem] : []));
      if (missing.length > 0) throw new ServiceError('ServiceUnavailable', `Not ready: ${missing.join(', ')}.`);
      answer(response, 200, {
        status: results.every(({ problem }) => problem === undefined) ? 'ready' : 'degraded',
        checks: Object.fromEntries(
          results.map(({ name, problem }) => [name, problem === undefined ? 'ok' : 'unavailable']),
        ),
      });
    })
    .all(otherMethods(['get']));
  return router;
}
