import { setTimeout as sleep } from 'node:timers/promises';
import { readFacts } from './stack';

/**
 * What kill -9 at any moment, or a machine that is busy, asks of a test: somebody who kills, and a merchant who sends
 * again what was not answered.
 */

type Called = Promise<{ status: number; headers: Headers; data?: unknown }>;

/** Longer than a killed process takes to come back, however often it was killed before. */
const LIMIT_MS = 120_000;
const UNANSWERED = [502, 503, 504];

/**
 * As a merchant does: what the service could not answer (503, or a connection that broke) goes out again with its
 * Idempotency-Key, after the seconds of Retry-After; so does what the processor's vault did not answer it (502, 504),
 * as nothing was stored then. Any other answer is the answer.
 */
export async function sendUntilAnswered<Body = unknown>(
  call: () => Called,
): Promise<{ status: number; headers: Headers; body: Body }> {
  const give_up = performance.now() + LIMIT_MS;
  for (;;) {
    const answer = await call().catch((error: unknown) => {
      if (performance.now() > give_up || !isBrokenConnection(error)) throw error;
      return undefined;
    });
    if (answer !== undefined && (!UNANSWERED.includes(answer.status) || performance.now() > give_up)) {
      return { status: answer.status, headers: answer.headers, body: answer.data as Body };
    }
    await sleep(1_000 * Number(answer?.headers.get('retry-after') ?? 1));
  }
}

function isBrokenConnection(error: unknown): boolean {
  // Made outside of the test's realm: no instance of its TypeError.
  return ['fetch failed', 'terminated'].includes(String((error as { message?: unknown } | null)?.message));
}

export interface Killer {
  /** Times of the kills so far, in seconds since the first wait. */
  kills: readonly number[];
  stop(): Promise<void>;
}

interface KillerOptions {
  data_dir: string;
  /** The same seed waits the same times. */
  seed: number;
  /** Of one worker's life, in milliseconds. */
  least_ms?: number;
  most_ms?: number;
  onKill?: (seconds: number) => void;
}

/**
 * Kills the stack's worker with kill -9 again and again, each a random time after its start. The supervisor starts
 * another each time.
 */
export function killWorkerAtRandom({
  data_dir,
  seed,
  least_ms = 3_000,
  most_ms = 10_000,
  onKill,
}: KillerOptions): Killer {
  const random = randomFrom(seed);
  const over = new AbortController();
  const began = performance.now();
  const kills: number[] = [];
  const workerPid = () => readFacts(data_dir).pids['worker']!;
  const run = async () => {
    for (;;) {
      await sleep(least_ms + random() * (most_ms - least_ms), undefined, { signal: over.signal });
      const pid = workerPid();
      killIfThere(pid);
      kills.push(Math.round((performance.now() - began) / 100) / 10);
      onKill?.(kills.at(-1)!);
      // Its pause grows with every early death.
      while (workerPid() === pid) await sleep(50, undefined, { signal: over.signal });
    }
  };
  const running = run().catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
  });
  return {
    kills,
    async stop() {
      over.abort();
      await running;
    },
  };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself; another is on its way.
    if ((error as { code?: unknown }).code !== 'ESRCH') throw error;
  }
}

/** Mulberry32: numbers from 0 to 1 that follow from the seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whether the worker of this run's stack is killed all the time: npm run journeys:killing. */
export const isKillingRun = () => process.env['KILL_WORKER'] === 'true';

/** The seed of this run: KILL_WORKER_SEED to see one again. */
export function killingSeed(): number {
  return Number(process.env['KILL_WORKER_SEED'] || Date.now() % 1_000_000);
}
