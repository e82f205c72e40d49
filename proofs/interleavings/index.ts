import { Worker } from 'node:worker_threads';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import type { SchedulesOutcome } from './schedules';

/** Interleavings of the code of orders (proofs/README.md). */
export const interleavings: Proof = {
  name: 'interleavings',
  title: 'Whatever order things happen in, the record, the processor and the answers to the merchant agree.',
  seeds: [1],
  in_ci: true,
  not_proved: [
    'Schedules run the code of orders and follow-up orders, its activities and its calls to Temporal, on a model of Temporal, Postgres and the processor. Links, chargebacks, sandbox clocks and outcomes set by hand are not in them, nor what a webhook does after its start.',
    'The model of Postgres carries out each statement at once and whole. What a statement of PostgreSQL does to concurrent ones is not shown here.',
    'There is no history and no replay, so no non-determinism is found here: the proof lives replays at every task.',
  ],
  run,
};

const SCHEDULES = { ci: 2_000, full: 100_000 } as const;

async function run({ seed, size, single, say }: ProofInput): Promise<ProofOutcome> {
  const { schedules, steps, violation } = await trySchedules({ seed, count: SCHEDULES[size], path: single }, say);
  return {
    counts: { schedules, 'things that happened in them': steps },
    violations: violation === undefined ? [] : [violation],
  };
}

async function trySchedules(
  workerData: { seed: number; count: number; path: string | undefined },
  say: (line: string) => void,
): Promise<SchedulesOutcome> {
  const thread = new Worker(require.resolve('./schedule-thread'), { workerData });
  return await new Promise((resolve, reject) => {
    thread.on('error', reject);
    thread.on('message', ({ line, outcome }: { line?: string; outcome?: SchedulesOutcome }) => {
      if (line !== undefined) say(line);
      if (outcome !== undefined) resolve(outcome);
    });
  });
}
