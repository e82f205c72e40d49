import fc from 'fast-check';
import { CARD_ANSWERS } from './processor';
import { Story, beginnings, watchRecords, type Beginning, type Known } from './story';

const MINUTE = 60_000;

type Step = fc.AsyncCommand<Known, Story>;

/**
 * A step of merchant, customer, processor, operator or time. Nobody waits for its end: the next one may come before.
 */
class Act implements Step {
  constructor(
    private readonly name: string,
    private readonly act: (story: Story) => Promise<void> | void,
  ) {}

  check(): boolean {
    return true;
  }

  async run(_known: Known, story: Story): Promise<void> {
    await story.sandbox.runUntilBlocked();
    const acting = Promise.resolve(this.act(story));
    acting.catch((error: unknown) =>
      story.sandbox.violations.push(`${this.name}: ${String((error as Error).message)}`),
    );
  }

  toString(): string {
    return this.name;
  }
}

const always = (name: string, act: (story: Story) => Promise<void> | void) => fc.constant(new Act(name, act));
const amounts = fc.constantFrom(undefined, 100, 200, 300, 500);
const times = fc.constantFrom(3_000, 20_000, 6 * MINUTE, 31 * MINUTE, 61 * MINUTE);

const pay = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom(...CARD_ANSWERS))
  .map(([attempt, card]) => new Act(`pay ${attempt} ${card}`, (story) => story.pay(attempt, card)));
const follow = fc
  .tuple(fc.constantFrom('capture' as const, 'void' as const, 'refund' as const), amounts)
  .map(([kind, amount]) => new Act(`${kind} ${amount ?? 'all'}`, (story) => story.follow(kind, amount)));

/** Each is as likely as any other; some are here more than once. */
const steps: fc.Arbitrary<Step>[] = [
  ...[pay, pay, follow, follow, follow],
  always('cancel', (story) => story.cancel()),
  always('the issuer approves', ({ processor }) => processor.decide('challenge', 'approved')),
  always('the issuer refuses', ({ processor }) => processor.decide('challenge', 'error')),
  always('the processor approves', ({ processor }) => processor.decide('processing', 'approved')),
  always('the processor declines', ({ processor }) => processor.decide('processing', 'declined')),
  always('notification', (story) => story.notify()),
  always('record changed', (story) => story.recordChanged()),
  always('fields changed', (story) => story.changeFields()),
  always('workflow lost', (story) => story.lose()),
  always('long history', (story) => story.wantNewRun()),
  times.map((ms) => new Act(`${ms / 1_000} s pass`, ({ sandbox }) => sandbox.passTo(sandbox.now + ms))),
];

interface Schedule {
  scheduler: fc.Scheduler;
  beginning: Beginning;
  commands: Iterable<Step>;
  chances: fc.Stream<number>;
}

export interface SchedulesOutcome {
  schedules: number;
  steps: number;
  /** The shortest failing schedule, and how to repeat it. */
  violation: string | undefined;
}

/**
 * Tries random steps under random schedules. `path`: where fast-check found a failure, and after a slash which of its
 * commands were taken, to repeat it. The clock of this thread is that of the story.
 */
export async function trySchedules({
  seed,
  count,
  path,
  say,
}: {
  seed: number;
  count: number;
  path: string | undefined;
  say: (line: string) => void;
}): Promise<SchedulesOutcome> {
  let [schedules, taken] = [0, 0];
  const [where, replayPath] = path?.split('/') ?? [];
  let story: Story | undefined;
  const clock = Date.now;
  watchRecords((text) => story?.sandbox.violations.push(text));
  const property = fc.asyncProperty(
    fc.scheduler({
      act: async (step) => {
        await step();
        await story?.sandbox.runUntilBlocked();
      },
    }),
    beginnings,
    fc.commands(steps, { maxCommands: 14, ...(replayPath !== undefined && { replayPath }) }),
    fc.infiniteStream(fc.nat(99)),
    async (scheduler, beginning, commands, chances) => {
      taken += await trySchedule({ scheduler, beginning, commands, chances }, (made) => (story = made));
      schedules += 1;
      if (schedules % 5_000 === 0) say(`${schedules} schedules`);
    },
  );
  try {
    const details = await fc.check(property, {
      seed,
      numRuns: count,
      ...(where !== undefined && { path: where }),
      endOnFailure: false,
    });
    return { schedules, steps: taken, violation: details.failed ? inWords(details) : undefined };
  } finally {
    Date.now = clock;
  }
}

async function trySchedule(
  { scheduler, beginning, commands, chances }: Schedule,
  made: (story: Story) => void,
): Promise<number> {
  const story = new Story(scheduler, chances);
  Date.now = () => story.sandbox.now;
  made(story);
  const creating = story.create(beginning);
  await fc.scheduledModelRun(scheduler, () => ({ model: story.known, real: story }), commands);
  await story.end();
  await creating;
  const differences = story.differences();
  if (differences.length > 0) throw new Error(differences.join('; '));
  return story.sandbox.turns;
}

interface Failure {
  counterexample: readonly unknown[] | null;
  counterexamplePath: string | null;
  errorInstance: unknown;
  seed: number;
}

function inWords({ counterexample, counterexamplePath, errorInstance, seed }: Failure): string {
  const [scheduler, beginning, commands] = counterexample ?? [];
  const error = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const [, taken = ''] = /replayPath="([^"]+)"/.exec(String(commands)) ?? [];
  const where = `--seed ${seed} --case ${counterexamplePath}/${taken}`;
  return `${error}; after ${JSON.stringify(beginning)}, ${String(commands)}\n${String(scheduler)}\nRepeat it: ${where}`;
}
