import { Worker } from 'node:worker_threads';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { liveAll, type LivesOutcome } from './lives';
import type { SchedulesOutcome } from './schedules';

/** Interleavings of the workflow's code, and random lives (proofs/README.md). */
export const interleavings: Proof = {
  name: 'interleavings',
  title: 'Whatever order things happen in, record, processor and answers agree, and every history replays.',
  seeds: [1],
  in_ci: true,
  not_proved: [
    'Schedules run the code of orders and follow-up orders, its activities and its calls to Temporal, on a model of Temporal, Postgres and the processor. Links, webhooks, chargebacks, sandbox clocks and outcomes set by hand are only in the lives.',
    'The model of Postgres carries out each statement at once and whole. What a statement of PostgreSQL does to concurrent ones is shown by the proof linearizable and by the tests of src/db.',
    'Schedules have no history: replay, and with it non-determinism, is only in the lives.',
    'The time-skipping server suggests no new run, so the lives have none; schedules have.',
    'What happens within one workflow task of a life is up to the machine: a life that is repeated may differ.',
  ],
  run,
};

const SIZES = { ci: { schedules: 2_000, lives: 15 }, full: { schedules: 100_000, lives: 1_000 } } as const;

async function run({ seed, size, single, say }: ProofInput): Promise<ProofOutcome> {
  const { schedules: count, lives } = SIZES[size];
  const [what, which] =
    single === undefined ? [] : [single.slice(0, single.indexOf(':')), single.slice(single.indexOf(':') + 1)];
  if (single !== undefined && what !== 'schedule' && what !== 'life') {
    throw new Error('a case is schedule:PATH or life:NUMBER');
  }
  // Schedules compute, lives wait: at the same time.
  const [tried, lived] = await Promise.all([
    what === 'life' ? undefined : trySchedules({ seed, count, path: which }, say),
    what === 'schedule'
      ? undefined
      : liveAll({ seed, count: lives, single: which === undefined ? undefined : Number(which) }, say),
  ]);
  return outcomeOf(tried, lived);
}

function outcomeOf(tried: SchedulesOutcome | undefined, lived: LivesOutcome | undefined): ProofOutcome {
  return {
    counts: {
      ...(tried && { schedules: tried.schedules, 'things that happened in them': tried.steps }),
      ...(lived && { lives: lived.lives, 'steps of lives': lived.steps, 'histories replayed': lived.histories }),
    },
    violations: [...(tried?.violation === undefined ? [] : [tried.violation]), ...(lived?.violations ?? [])],
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
