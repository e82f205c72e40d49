import { setTimeout as sleep } from 'node:timers/promises';

/** Orders of tests that look for races: set it higher to meet more ends. */
export const RACES = Number(process.env['RACES'] ?? 36);

/** Milliseconds between two questions: a fifth of what has been waited so far, within these limits. */
const PAUSE_MS = { least: 25, most: 500 };

/**
 * Asks again and again until there is an answer other than undefined or false; says what never came. The longer it
 * takes, the less often it asks: most questions are requests, which take the processor from what is waited for.
 * `least_ms`: the least pause, for a question that costs much or has no answer for long.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  within_ms = 60_000,
  least_ms = PAUSE_MS.least,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - began;
    if (waited > within_ms) throw new Error(`not within ${within_ms} ms: ${what}`);
    await sleep(Math.max(least_ms, Math.min(PAUSE_MS.most, waited / 5)));
  }
}

/** What the generated client answers has its body as `data`. */
type Called = Promise<{ status: number; headers: Headers; data?: unknown; body?: unknown }>;

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
  limit_ms = LIMIT_MS,
): Promise<{ status: number; headers: Headers; body: Body }> {
  const give_up = performance.now() + limit_ms;
  for (;;) {
    const answer = await call().catch((error: unknown) => {
      if (performance.now() > give_up || !isBrokenConnection(error)) throw error;
      return undefined;
    });
    if (answer !== undefined && (!UNANSWERED.includes(answer.status) || performance.now() > give_up)) {
      return { status: answer.status, headers: answer.headers, body: (answer.body ?? answer.data) as Body };
    }
    await sleep(1_000 * Number(answer?.headers.get('retry-after') ?? 1));
  }
}

function isBrokenConnection(error: unknown): boolean {
  // Made outside of the test's realm: no instance of its TypeError.
  return ['fetch failed', 'terminated'].includes(String((error as { message?: unknown } | null)?.message));
}

/** A world whose workflow time can be let pass. */
interface WorkflowClock {
  env: { sleep(ms: number): Promise<void> };
  now(): Promise<number>;
}

/** Brings workflow time to `instant`, epoch milliseconds, unless it is later already. */
export async function sleepUntil({ env, now }: WorkflowClock, instant: number): Promise<void> {
  const left = instant - (await now());
  if (left > 0) await env.sleep(left);
}

/**
 * What `act` answers one second before `end` of a subject that `create` makes. Workflow time is as fast as ours while
 * it acts: where a busy machine needs more than that second, what was answered proves nothing, and another subject is
 * taken.
 */
export async function inTheLastSecond<Subject, Answer>(
  world: WorkflowClock,
  {
    create,
    end,
    act,
  }: {
    create: () => Promise<Subject>;
    end: (subject: Subject) => Promise<number>;
    act: (subject: Subject) => Promise<Answer>;
  },
): Promise<{ subject: Subject; end: number; answer: Answer }> {
  for (let tries = 1; tries <= 10; tries += 1) {
    const subject = await create();
    const instant = await end(subject);
    await sleepUntil(world, instant - 1_000);
    const [acted] = await Promise.allSettled([act(subject)]);
    if ((await world.now()) >= instant) continue;
    if (acted.status === 'rejected') throw acted.reason;
    return { subject, end: instant, answer: acted.value };
  }
  throw new Error('this machine does not do it within a second of workflow time');
}

/**
 * Timers of orders that are not paid and of payment links by name, with the view of the object before its end and from
 * then on. Tests let Temporal's time pass to the end, or advance the sandbox clock to it: both must see the same.
 */
export const TIMERS = {
  'rules 6.7: a customer who never finishes 3-D Secure': { before: 'processing: pending', after: 'expired: expired' },
  'the last question about a late approval': { before: 'watched', after: 'not watched' },
  'the end of a payment link': { before: 'new', after: 'expired' },
  'the end of an order of a payment link': { before: 'processing', after: 'all_unsuccessful' },
} as const satisfies Record<string, { before: string; after: string }>;

export type TimerName = keyof typeof TIMERS;
