import { setTimeout as sleep } from 'node:timers/promises';
import { readVariables } from '../../src/stack/launch';
import { startProcess, type TestProcess } from '../../test/support/process';
import { idle, OwnStack } from '../../test/support/stack';
import { until } from '../../test/support/waits';
import { checkInvariants } from '../invariants';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';
import { runLoad } from '../support/load';
import { numbersFrom } from '../support/random';
import { startFailingReceiver } from '../support/receivers';
import { KEEPER, LEASES, LeaseRecorder, type LeaseName } from './leases';

/** Duration of the load, orders a second in it, and how often the holder of a lease fails. */
const SIZES: Record<Size, { seconds: number; per_second: number; holders: number }> = {
  ci: { seconds: 60, per_second: 4, holders: 4 },
  full: { seconds: 300, per_second: 8, holders: 20 },
};
const WORKERS = 3;
const KEEPERS = 3;
/** Between two kills of a worker. Milliseconds. */
const KILL_EVERY_MS = 20_000;
/** A keeper that stands still does so for longer than its lease lasts. Milliseconds. */
const STOPPED_MS = 15_000;
/** Another keeper has the lease after this long. Milliseconds. */
const TAKEN_OVER_WITHIN_MS = 10_000;
/** 99 of 100 requests are answered within this time. Milliseconds. */
const P99_MS = 12_000;
/** So many of all requests may end with an answer of 500 or above, or a broken connection: merchants repeat them. */
const UNANSWERED_MAX = 0.01;

export const severalWorkers: Proof = {
  name: 'several-workers',
  title:
    'Three workers, of which one is killed every 20 seconds, and three keepers, of which the one at work is killed or stopped 20 times: no order is lost or charged twice, 99 of 100 requests are answered within 12 seconds, and one keeper at a time does the work, the next one within 10 seconds.',
  not_proved: [
    'Several machines: their clocks, and a network that splits between them.',
    'That every workflow history replays: a thousand are tried, spread evenly.',
    'Who writes to the search index while it is handed over; that it equals the record at the end.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

async function run({ seed, size, say }: ProofInput): Promise<ProofOutcome> {
  const { seconds, per_second, holders } = SIZES[size];
  const own = new OwnStack('several-workers', () => ({ RATE_LIMIT_PER_SECOND: '0' }), idle('worker'));
  const closing: (() => unknown)[] = [() => own.discard()];
  try {
    const stack = await own.start();
    const receiver = await startFailingReceiver(0);
    closing.unshift(() => receiver.close());
    const leases = new LeaseRecorder(stack.postgres_url);
    closing.unshift(() => leases.close());
    await leases.start();
    const processes = new Processes(own);
    closing.unshift(() => processes.end());
    for (let n = 1; n <= WORKERS; n += 1) await processes.start(`worker-${n}`, 'payments,webhooks');
    for (let n = 1; n <= KEEPERS; n += 1) await processes.start(`${KEEPER}-${n}`, 'keeper');
    const over = new AbortController();
    const killing = killWorkers(processes, over.signal);
    const failing = failHolders({ processes, leases, holders, random: numbersFrom(seed), say, over: over.signal });
    // Both have ended before the processes do, also when the load fails.
    const faults = Promise.allSettled([killing, failing]);
    closing.unshift(() => {
      over.abort();
      return faults;
    });
    const load = await runLoad({
      ...{ stack, seed, orders: seconds * per_second, per_second, merchants: 4, say },
      ...{ webhook_url: receiver.url, processor_faults: 0 },
    });
    const taken_over = await failing;
    over.abort();
    const killed = await killing;
    const { work, passed_on, violations: worked } = await leases.judge();
    const requests = load.requests.map(({ began, ended }) => ended - began).toSorted((a, b) => a - b);
    const unanswered = load.requests.filter(({ status = 500 }) => status >= 500).length;
    const p99 = requests[Math.ceil(requests.length * 0.99) - 1] ?? 0;
    const longest = Math.max(...taken_over);
    const violations = [
      ...worked,
      ...load.unfinished.map((story) => `${story} did not come to its end`),
      ...(p99 > P99_MS ? [`1 of 100 requests took more than ${Math.round(p99)} ms`] : []),
      ...(unanswered > requests.length * UNANSWERED_MAX ? [`${unanswered} requests got no answer below 500`] : []),
      ...(longest > TAKEN_OVER_WITHIN_MS ? [`a lease was taken over after ${Math.round(longest)} ms only`] : []),
      ...(await checkInvariants(stack, { within_ms: 600_000, say })),
    ].map((violation) => `seed ${seed}: ${violation}`);
    return {
      counts: {
        orders: seconds * per_second,
        requests: requests.length,
        'milliseconds in which 99 of 100 were answered': Math.round(p99),
        'without an answer below 500': unanswered,
        'statements of keepers at work': work,
        'leases that passed to another keeper': passed_on,
        'milliseconds until the next keeper had the lease, at most': Math.round(longest),
      },
      injections: {
        'worker killed': killed,
        'keeper killed': Math.ceil(holders / 2),
        'keeper stopped': Math.floor(holders / 2),
      },
      violations,
    };
  } finally {
    for (const end of closing) await end();
  }
}

/** Workers by name, beside a stack that has none of its own. */
class Processes {
  private readonly running = new Map<string, TestProcess>();

  constructor(private readonly own: OwnStack) {}

  async start(name: string, WORKER_ROLES: string): Promise<void> {
    const { data_dir } = this.own;
    const url = new URL(readVariables(data_dir)['POSTGRES_URL']!);
    url.searchParams.set('application_name', name);
    const env = { WORKER_ROLES, POSTGRES_URL: url.href, LOG_REQUESTS: 'none' };
    this.running.set(name, await startProcess('worker', { env, data_dir }));
  }

  async kill(name: string): Promise<void> {
    await this.running.get(name)!.stop();
  }

  signal(name: string, signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.running.get(name)!.pid, signal);
  }

  async end(): Promise<void> {
    await Promise.all([...this.running.values()].map((one) => one.stop()));
  }
}

/** Kills each worker in turn and starts it again at once. Returns how many it has killed. */
async function killWorkers(processes: Processes, over: AbortSignal): Promise<number> {
  for (let killed = 0; ; killed += 1) {
    await sleep(KILL_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return killed;
    const name = `worker-${(killed % WORKERS) + 1}`;
    await processes.kill(name);
    await processes.start(name, 'payments,webhooks');
  }
}

interface Failing {
  processes: Processes;
  leases: LeaseRecorder;
  holders: number;
  random: () => number;
  say: ProofInput['say'];
  over: AbortSignal;
}

/**
 * Kills the keeper that has a lease, or has it stand still and go on later, in turn. Returns after how many
 * milliseconds another one had the lease, for each.
 */
async function failHolders({ processes, leases, holders, random, say, over }: Failing): Promise<number[]> {
  const names = Object.keys(LEASES) as LeaseName[];
  const taken_over: number[] = [];
  for (let n = 0; n < holders && !over.aborted; n += 1) {
    const lease = names[Math.floor(random() * names.length)]!;
    const holder = await until(`a keeper has the lease ${lease}`, () => leases.holderOf(lease));
    const is_killed = n % 2 === 0;
    const began = performance.now();
    if (is_killed) await processes.kill(holder);
    else processes.signal(holder, 'SIGSTOP');
    await until(`another keeper has the lease ${lease}`, async () => (await leases.holderOf(lease)) !== holder);
    taken_over.push(performance.now() - began);
    say(
      `${holder} ${is_killed ? 'killed' : 'stopped'}: ${lease} taken over after ${Math.round(taken_over.at(-1)!)} ms`,
    );
    if (is_killed) await processes.start(holder, 'keeper');
    else {
      await sleep(Math.max(0, began + STOPPED_MS - performance.now()), undefined, { signal: over }).catch(
        () => undefined,
      );
      processes.signal(holder, 'SIGCONT');
    }
  }
  return taken_over;
}
