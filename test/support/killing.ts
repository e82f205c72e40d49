import { setTimeout as sleep } from 'node:timers/promises';
import { numbersFrom } from '../../proofs/support/random';
import { Loop } from '../../src/loop';
import { readFacts } from '../../src/stack/launch';

/** The shortest and the longest life of a worker. Milliseconds. */
const LIFE_MS = { least: 3_000, most: 10_000 };

interface KillerOptions {
  data_dir: string;
  /** The same seed waits the same times. */
  seed: number;
  /** Gets the seconds since the first wait. */
  onKill: (seconds: number) => void;
}

/**
 * Kills the stack's worker with kill -9 again and again, each a random time after its start. The supervisor starts
 * another each time.
 */
export function killWorkerAtRandom({ data_dir, seed, onKill }: KillerOptions): Loop {
  const random = numbersFrom(seed);
  const nextLife = () => LIFE_MS.least + random() * (LIFE_MS.most - LIFE_MS.least);
  const began = performance.now();
  const workerPid = () => readFacts(data_dir).pids['worker']!;
  const loop = new Loop(async () => {
    const pid = workerPid();
    killIfThere(pid);
    onKill(Math.round((performance.now() - began) / 100) / 10);
    // Its pause grows with every early death.
    while (!loop.isStopping && workerPid() === pid) await sleep(50);
    return nextLife();
  });
  loop.start(nextLife());
  return loop;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself; another is on its way.
    if ((error as { code?: unknown }).code !== 'ESRCH') throw error;
  }
}

/** Whether the worker of this run's stack is killed all the time: npm run journeys:killing. */
export const isKillingRun = () => process.env['KILL_WORKER'] === 'true';

/** The seed of this run: KILL_WORKER_SEED to see one again. */
export function killingSeed(): number {
  return Number(process.env['KILL_WORKER_SEED'] || Date.now() % 1_000_000);
}
