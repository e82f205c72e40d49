import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase } from '../../src/db/connection';
import { Merchant } from '../../test/support/merchant';
import { startReceiver } from '../../test/support/servers';
import { temporalOf } from '../../test/support/temporal-client';
import { checkInvariants } from '../invariants';
import { numbersFrom } from '../support/random';
import { table } from '../../src/bench/report';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { begin, crash, differences, nameOf, stateWithin, type Case, type Running, type Setting } from './batch';
import type { State } from './check';
import type { Flow } from './flow';
import { CI_FLOWS, FLOWS } from './flows';
import type { Side, Victim } from './messages';
import { CrashStack, type Seen } from './stack';

/** Every crash point (proofs/README.md). */
export const crashPoints: Proof = {
  name: 'crash',
  title: 'The api and the worker are killed before and after each of their calls, and every order ends as without it.',
  seeds: [1],
  in_ci: true,
  not_proved: [
    'Calls are numbered at the border of the process. A crash of the machine, which may lose what PostgreSQL has confirmed, is not tried.',
    'A call that only reads is tried on one side: what is stored is the same before and after it.',
    'One kill for a case: a second crash during the repair is tried only by chance, in cases that share a stack.',
    'Calls of loops, schedules and polls by timer are not numbered: recovery, leases, settlements, the daily check of the index. The receiver of a webhook is called between two numbered calls.',
    'That every workflow history replays: a thousand are tried, spread evenly.',
    'Processes other than the api and the worker are not killed here.',
    'The order of calls that run at the same time may differ between two runs: a number then names another call of the same flow.',
  ],
  run,
};

/** Flows that run at the same time. */
const LANES = 20;
/** How long a flow may take after a kill before the next ones begin; it goes on meanwhile. Milliseconds. */
const SOON_MS = 16_000;
/** How long a flow without a kill may take. Milliseconds. */
const LEARN_MS = 120_000;
/** A state that stays the same for so long is the last one. Milliseconds. */
const STABLE_MS = 2_500;
/** How long recovery may take, after all kills. Milliseconds. */
const FINALLY_MS = 300_000;
const VICTIMS: readonly Victim[] = ['worker', 'api'];
const SIDES: readonly Side[] = ['before', 'after'];
/** Cases of CI. */
const CI_CASES = { worker: 24, api: 12 };
/** How often a case may miss its crash point; the last time its flow runs alone. */
const TRIES = 4;

async function run({ seed, size, single, say }: ProofInput): Promise<ProofOutcome> {
  const stack = new CrashStack();
  const receiver = await startReceiver();
  try {
    const running = await stack.start();
    const merchant = new Merchant(running);
    const db = connectDatabase(running.postgres_url, { pool_max: 10 });
    const temporal = temporalOf(running);
    try {
      const project = await merchant.getProject();
      const world = { merchant, db, webhook_url: receiver.url };
      const shared_ids = [project.id, project.merchant_id];
      const proof = new CrashProof({ stack, world, temporal, receiver, shared_ids }, say);
      await proof.learn(flowsOf(size, single));
      await proof.crashAll(chosen(proof.cases(), { seed, size, single }), seed);
      return await proof.outcome(await checkInvariants(running, { say }));
    } finally {
      await temporal.connection.close();
      await db.destroy();
    }
  } finally {
    await stack.discard();
    await receiver.close();
  }
}

function flowsOf(size: ProofInput['size'], single: string | undefined): readonly Flow[] {
  if (single !== undefined) return FLOWS.filter(({ name }) => name === single.split(':')[0]);
  return size === 'ci' ? FLOWS.filter(({ name }) => CI_FLOWS.includes(name)) : FLOWS;
}

/** A case is named in full, or by its beginning, as `sale` or `sale:worker`. CI takes some, by the seed. */
function chosen(cases: readonly Case[], { seed, size, single }: Pick<ProofInput, 'seed' | 'size' | 'single'>): Case[] {
  if (single !== undefined) return cases.filter((one) => `${nameOf(one)}:`.startsWith(`${single}:`));
  if (size === 'full') return [...cases];
  const all = shuffled(cases, numbersFrom(seed));
  return VICTIMS.flatMap((victim) => all.filter((one) => one.victim === victim).slice(0, CI_CASES[victim]));
}

const shuffled = <One>(all: readonly One[], random: () => number): One[] =>
  all
    .map((one) => ({ one, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);

/** What is known of a flow from a run in which nothing was killed. */
interface Known {
  flow: Flow;
  calls: Record<Victim, Seen['calls']>;
  state: State;
}

class CrashProof {
  private readonly known = new Map<string, Known>();
  private readonly violations: string[] = [];
  private readonly crashed: Case[] = [];
  private readonly not_reached: Case[] = [];
  private readonly late: Promise<void>[] = [];
  private readonly ended_by_timer: Running[] = [];
  private kills = 0;
  /** When the last process was killed. */
  private over_at = Number.POSITIVE_INFINITY;

  constructor(
    private readonly setting: Setting,
    private readonly say: (line: string) => void,
  ) {}

  /** Runs each flow without a kill: how it ends, and how many calls it has. */
  async learn(flows: readonly Flow[]): Promise<void> {
    for (const batch of batchesOf(flows, (flow) => flow)) {
      const running = await begin(
        this.setting,
        batch.map((flow) => ({ flow })),
        VICTIMS,
      );
      await Promise.all(running.map((one) => this.learnFrom(one)));
    }
    const calls = [...this.known.values()].flatMap((known) => VICTIMS.map((victim) => known.calls[victim].length));
    this.say(`${flows.length} flows make ${calls.reduce((sum, count) => sum + count, 0)} calls`);
  }

  private async learnFrom(one: Running): Promise<void> {
    const { flow, actor, acted } = one;
    const failure = await acted;
    const give_up = performance.now() + LEARN_MS;
    const isTimeUp = () => performance.now() > give_up;
    const { state, is_expected } = await stateWithin(this.setting, one, { expected: undefined, isTimeUp });
    // Its last workflows end a moment after its state is as expected.
    const stable = await this.untilStable(one, state);
    if (failure !== undefined || !is_expected) {
      const why = [failure, stable.ends, ...stable.wrong].filter(Boolean).join('; ');
      this.violate(`${flow.name}, without a kill: ${why}, not ${flow.ends}`);
    }
    const { stack } = this.setting;
    const calls = { api: stack.of('api', actor.marker).calls, worker: stack.of('worker', actor.marker).calls };
    this.known.set(flow.name, { flow, calls, state: stable });
  }

  /** The state once two looks, a moment apart, see the same. */
  private async untilStable(one: Running, state: State): Promise<State> {
    let last = state;
    for (;;) {
      await sleep(STABLE_MS);
      const { state: next } = await stateWithin(this.setting, one, { expected: last, isTimeUp: () => true });
      if (differences(next, last).length === 0) return next;
      last = next;
    }
  }

  cases(): Case[] {
    const all = [...this.known.values()].flatMap(({ flow, calls }) =>
      VICTIMS.flatMap((victim) =>
        calls[victim].flatMap(({ what, is_read }, i) => {
          // The other calls of such a flow are those of a flow without the indexer.
          if (flow.with_index && !what.startsWith('indexer')) return [];
          return SIDES.filter((side) => side === 'before' || !is_read).map((side) => ({
            ...{ flow, victim },
            point: { call: i + 1, side },
          }));
        }),
      ),
    );
    // Flows that stop at the same call stop at about the same time.
    return all.toSorted((a, b) => VICTIMS.indexOf(a.victim) - VICTIMS.indexOf(b.victim) || a.point.call - b.point.call);
  }

  async crashAll(cases: readonly Case[], seed: number): Promise<void> {
    if (cases.length === 0) throw new Error('there is no such case');
    const random = numbersFrom(seed);
    let left = [...cases];
    for (let tries = 1; tries <= TRIES && left.length > 0; tries += 1) {
      const lanes = tries === TRIES ? 1 : tries === 1 ? LANES : LANES / 2;
      const batches = VICTIMS.flatMap((victim) => {
        const own = left.filter((one) => one.victim === victim);
        return batchesOf(own, ({ flow }) => flow, lanes);
      });
      left = [];
      for (const batch of shuffled(batches, random)) left.push(...(await this.crashBatch(batch)));
    }
    this.not_reached.push(...left);
    this.over_at = performance.now();
    this.say(`${this.late.length} batches have flows that are waited for`);
    await Promise.all(this.late);
  }

  /** Returns the cases that missed their crash points. */
  private async crashBatch(batch: readonly Case[]): Promise<Case[]> {
    const { running, stopped } = await crash(this.setting, batch);
    if (stopped.some((one) => one !== undefined)) this.kills += 1;
    const done = Promise.all(
      running.map(async (one, i) => {
        const name = `${nameOf(batch[i]!)} (${stopped[i]?.what ?? 'missed its call'})`;
        await this.judge(one, name);
      }),
    ).then(() => true);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, SOON_MS, false)));
    if (!(await Promise.race([done, late]))) this.late.push(done.then(() => undefined));
    clearTimeout(timer);
    const reached = batch.filter((_one, i) => stopped[i] !== undefined);
    this.crashed.push(...reached);
    this.say(`${this.crashed.length} crash points, ${this.kills} kills, ${this.violations.length} violations`);
    return batch.filter((_one, i) => stopped[i] === undefined);
  }

  private async judge(one: Running, name: string): Promise<void> {
    const { flow, acted } = one;
    const failure = await acted;
    const { state: expected } = this.known.get(flow.name)!;
    // While the worker is killed again and again, recovery does not come to its work.
    const isTimeUp = () => performance.now() > this.over_at + FINALLY_MS;
    const { state, is_expected } = await stateWithin(this.setting, one, { expected, isTimeUp });
    if (failure === undefined && is_expected) return;
    if (failure === undefined && (await this.endsByTimer(one, state, expected))) return;
    const ends = state.ends === flow.ends ? [] : [`${state.ends}, not ${flow.ends}`];
    const why = [...(failure === undefined ? [] : [failure]), ...ends, ...state.wrong, ...differences(state, expected)];
    this.violate(`${name}, ${one.actor.orders.join(' ')} ${one.actor.links.join(' ')}: ${why.join('; ')}`);
  }

  /**
   * An order whose workflow was not answered may know of its payment only when the time for paying is over: its record
   * is as it should be, its workflow ends then.
   */
  private async endsByTimer(one: Running, state: State, expected: State): Promise<boolean> {
    const { flow, actor } = one;
    const is_record_right = state.ends === flow.ends && state.wrong.length === 0;
    const differing = differences(state, expected).filter((line) => !line.startsWith('workflows'));
    if (!is_record_right || differing.length > 0 || expected.details.join().includes('RUNNING')) return false;
    for (const id of actor.orders) await actor.advance(id, 'P1D');
    for (const id of actor.links) await actor.advance(id, 'P1D', 'paymentlinks');
    const give_up = performance.now() + LEARN_MS;
    const isTimeUp = () => performance.now() > give_up;
    if (!(await stateWithin(this.setting, one, { expected, isTimeUp })).is_expected) return false;
    this.ended_by_timer.push(one);
    return true;
  }

  private violate(violation: string): void {
    this.violations.push(violation);
    this.say(violation);
  }

  async outcome(of_all: string[]): Promise<ProofOutcome> {
    const { crashed, not_reached, kills, known } = this;
    const injections = VICTIMS.flatMap((victim) =>
      SIDES.map((side) => [
        `${victim} killed ${side} a call`,
        crashed.filter((one) => one.victim === victim && one.point.side === side).length,
      ]),
    );
    const rows = [...known.values()].map(({ flow, calls }) => {
      const own = (cases: Case[]) => String(cases.filter((one) => one.flow === flow).length);
      return [flow.name, String(calls.api.length), String(calls.worker.length), own(crashed), own(not_reached)];
    });
    return {
      counts: {
        flows: known.size,
        'crash points': crashed.length,
        'not reached': not_reached.length,
        'workflows that ended by their timer': this.ended_by_timer.length,
        kills,
      },
      injections: Object.fromEntries(injections) as Record<string, number>,
      violations: [...this.violations, ...of_all],
      details: table(['flow', 'calls of the api', 'of the worker', 'crash points', 'not reached'], rows),
    };
  }
}

/** At most so many at a time; those with the calls of the indexer alone. */
function batchesOf<One>(all: readonly One[], flowOf: (one: One) => Flow, lanes = LANES): One[][] {
  const batches: One[][] = all.filter((one) => flowOf(one).with_index).map((one) => [one]);
  const rest = all.filter((one) => !flowOf(one).with_index);
  for (let i = 0; i < rest.length; i += lanes) batches.push(rest.slice(i, i + lanes));
  return batches;
}
