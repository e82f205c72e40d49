import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../../src/contract/order';
import { connectDatabase } from '../../src/db/connection';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { createLogger } from '../../src/log';
import { recoverEverything, type CheckCounts } from '../../src/recovery/recovery';
import { temporalData } from '../../src/stack/servers/temporal';
import { countWaitingTasks } from '../../src/temporal/task-queues';
import { ALL_OPEN } from '../../src/temporal/visibility';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { answerOfAdmin } from '../../test/support/admin';
import { Merchant } from '../../test/support/merchant';
import { amountDetailsOf, capture, capturePart, createAuthorization, part } from '../../test/support/merchant-payments';
import { createTestProject } from '../../test/support/operator';
import { OwnStack, postControl, type RunningStack } from '../../test/support/stack';
import { withTemporal } from '../../test/support/temporal-client';
import { sendUntilAnswered, until } from '../../test/support/waits';
import { orderWorkflowId, paymentLinkWorkflowId } from '../../workflows/messages';
import { checkInvariants } from '../invariants';
import { sumsOf, type Proof, type ProofInput, type ProofOutcome, type Size } from '../proof';
import { startFailingReceiver } from '../support/receivers';

/** Objects that are open at the same time. */
const OPEN: Record<Size, number> = { ci: 120, full: 10_000 };
/** Requests of merchants at the same time. */
const LANES = 24;
/** After the start of an empty or older Temporal every open object has its workflow again within this time. Seconds. */
const RECOVERED_WITHIN = 300;
/** The replay of all open workflows takes no longer. Seconds. */
const CHECKED_WITHIN = 300;
/** Pause after a recovery. Milliseconds. */
const QUIET_MS = 15_000;
const FEW_TASKS = 10;
/** Rows whose workflows run are checked at least so fast on two cores. */
const ROWS_A_SECOND_LEAST = 500;

export const temporalLost: Proof = {
  name: 'temporal-lost',
  title:
    'With 10,000 open orders and links Temporal is set back to an earlier copy of its database, and later starts with an empty one: `recover --all` gives each its workflow again within five minutes, and each ends as its merchant asks, charged once.',
  not_proved: [
    'A copy of Temporal that is older than some minutes: an object whose workflow the copy lacks starts again, however old it is.',
    'An older copy of another Temporal than the development server: what PostgreSQL restores for it.',
    'Requests while Temporal is away; the proofs `faults` and `linearizable` send them.',
    'Objects that nobody asks for and no command recovers: they wait for their next check (rules 10.13), up to six hours.',
    'That every workflow history replays: a thousand are tried, spread evenly.',
    'Histories of closed workflows: an empty Temporal has lost them.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

/** An object that a merchant has opened. */
interface Opened {
  kind: Kind;
  id: string;
  /** Of an authorization. */
  order?: Order;
}

interface Kind {
  name: string;
  /** Of 20 objects. */
  share: number;
  workflowId: (id: string) => string;
  open: (merchant: Merchant) => Promise<Omit<Opened, 'kind'>>;
  /** The merchant ends it; a late answer may show it as it is still. */
  end: (merchant: Merchant, opened: Opened) => Promise<unknown>;
  state: (merchant: Merchant, opened: Opened) => Promise<string>;
  /** Its state then. */
  ended: string;
}

const AMOUNT = 1_000;

const KINDS: readonly Kind[] = [
  {
    name: 'orders that wait for their payment',
    share: 14,
    workflowId: orderWorkflowId,
    open: (merchant) => merchant.createOrder({ amount: AMOUNT }),
    end: (merchant, { id }) => merchant.cancelOrder(id),
    state: async (merchant, { id }) => (await merchant.getOrder(id)).status,
    ended: 'cancelled',
  },
  {
    name: 'authorizations',
    share: 4,
    workflowId: orderWorkflowId,
    open: async (merchant) => {
      const order = await createAuthorization(merchant, { amount: AMOUNT });
      return { id: order.id, order };
    },
    end: (merchant, { order }) => sendUntilAnswered(() => capture(merchant, order!)),
    async state(merchant, { order }) {
      const { captured, capturable } = await amountDetailsOf(merchant, order!);
      return `${captured} captured, ${capturable} left`;
    },
    ended: `${AMOUNT} captured, 0 left`,
  },
  {
    name: 'payment links',
    share: 2,
    workflowId: paymentLinkWorkflowId,
    open: (merchant) => merchant.createPaymentLink({ amount: AMOUNT }),
    end: (merchant, { id }) => merchant.endPaymentLink(id),
    state: async (merchant, { id }) => (await merchant.getPaymentLink(id)).status,
    ended: 'expired',
  },
];

/** The kinds, each as often as its share of 20. */
const MIX = KINDS.flatMap((kind) => Array<Kind>(kind.share).fill(kind));

async function run({ seed, size, say }: ProofInput): Promise<ProofOutcome> {
  const receiver = await startFailingReceiver(0);
  const own = new OwnStack('temporal-lost', () => ({ RATE_LIMIT_PER_SECOND: '0' }));
  const drill = new Drill(own, say);
  try {
    const stack = await own.start();
    const { merchant } = await createTestProject({ webhook_url: receiver.url }, stack);
    drill.use(stack, merchant);
    const half = OPEN[size] / 2;
    await drill.open(half);
    await drill.copyTemporal();
    // What changes after the copy: Temporal will not know of it.
    const ended = await drill.endEvery(10);
    await drill.capturePartOfEvery(3);
    await drill.open(half + ended.length);
    const checked = await drill.checkDeploy();
    const behind = await drill.restartWith('copy');
    // Asked again, an order that Temporal takes for open is still what the record says.
    await drill.endAgain(ended);
    const ended_later = await drill.endEvery(2);
    await drill.open(ended_later.length);
    const empty = await drill.restartWith('nothing');
    const rows_a_second = await drill.recoverRunning();
    if (size === 'full' && rows_a_second < ROWS_A_SECOND_LEAST) {
      drill.violations.push(`recovery checks only ${rows_a_second} rows a second`);
    }
    await drill.checkDoctor();
    await drill.endEvery(1);
    await postControl(drill.stack, 'due', {});
    const violations = [...drill.violations, ...(await checkInvariants(drill.stack, { within_ms: 600_000, say }))].map(
      (violation) => `seed ${seed}: ${violation}`,
    );
    return {
      counts: {
        'open objects': OPEN[size],
        'seconds to replay all open workflows': checked,
        'open when Temporal was set back': behind.open,
        'workflows started again then': behind.restarted,
        'seconds until all had theirs': behind.seconds,
        'open when Temporal was emptied': empty.open,
        'workflows started again in the empty one': empty.restarted,
        'seconds until all had them': empty.seconds,
        'rows a second whose workflows run': rows_a_second,
      },
      violations,
      details: KINDS.map(({ name, share }) => `${name}: ${share * 5} %`).join(', '),
    };
  } finally {
    await own.discard();
    await receiver.close();
  }
}

/** The objects of one merchant, and the Temporal that they are in. */
class Drill {
  readonly violations: string[] = [];
  stack!: RunningStack;
  private merchant!: Merchant;
  private opened: Opened[] = [];
  private readonly copy: string;

  constructor(
    private readonly own: OwnStack,
    private readonly say: (line: string) => void,
  ) {
    this.copy = path.join(own.data_dir, 'temporal-copy');
  }

  use(stack: RunningStack, merchant: Merchant): void {
    [this.stack, this.merchant] = [stack, merchant];
  }

  async open(count: number): Promise<void> {
    await severalAtOnce(LANES, Array.from({ length: count }), async (_, n) => {
      const kind = MIX[n % MIX.length]!;
      this.opened.push({ kind, ...(await kind.open(this.merchant)) });
    });
    this.say(`${this.opened.length} open`);
  }

  /** Of a server that stands still: what its files would be after a power failure. */
  async copyTemporal(): Promise<void> {
    await this.own.without('temporal', () =>
      Promise.resolve(cpSync(temporalData(this.own.data_dir), this.copy, { recursive: true })),
    );
  }

  /** Ends every n-th open object. Returns them. */
  async endEvery(n: number): Promise<Opened[]> {
    const chosen = this.opened.filter((_, at) => at % n === 0);
    this.opened = this.opened.filter((_, at) => at % n !== 0);
    await this.endAgain(chosen);
    this.say(`${chosen.length} ended, ${this.opened.length} open`);
    return chosen;
  }

  /** Asks for the end of each, which may have come already, and compares how it ended. */
  async endAgain(chosen: readonly Opened[]): Promise<void> {
    await severalAtOnce(LANES, chosen, async (opened) => {
      const { kind, id } = opened;
      let state = 'unknown';
      const isEnded = async () => (state = await kind.state(this.merchant, opened)) === kind.ended;
      try {
        await kind.end(this.merchant, opened);
        await until(`${id} is ${kind.ended}`, isEnded);
      } catch (error) {
        this.violations.push(`${kind.name}: ${id} is ${state}, not ${kind.ended}: ${String(error)}`);
      }
    });
  }

  /** Captures a part of every n-th open authorization. */
  async capturePartOfEvery(n: number): Promise<void> {
    const authorizations = this.opened.filter(({ order }, at) => order !== undefined && at % n === 0);
    await severalAtOnce(LANES, authorizations, async ({ id, order }) => {
      const { status } = await sendUntilAnswered(() => capturePart(this.merchant, order!, part(AMOUNT / 4)));
      if (status !== 200) this.violations.push(`a part of ${id} is not captured: ${status}`);
    });
  }

  /** Replays all open workflows, as before an upgrade. Returns how long that took, in seconds. */
  async checkDeploy(): Promise<number> {
    // Temporal lists a workflow a moment after its start.
    await withTemporal(this.stack, (client) =>
      until('Temporal lists all', async () => (await client.workflow.count(ALL_OPEN)).count >= this.opened.length),
    );
    const began = performance.now();
    const { replayed, would_stop } = await this.admin<{ replayed: number; would_stop: string[] }>('deploy', 'check');
    const seconds = secondsSince(began);
    this.say(`${replayed} open workflows replayed in ${seconds} s`);
    this.violations.push(...would_stop);
    if (replayed < this.opened.length) this.violations.push(`deploy check replayed ${replayed} workflows only`);
    if (seconds > CHECKED_WITHIN) this.violations.push(`deploy check took ${seconds} s`);
    return seconds;
  }

  /**
   * Ends all processes, gives Temporal the copy of its database or an empty one, starts all again, and recovers as an
   * operator does. `seconds`: from the start until every open object has its workflow.
   */
  async restartWith(database: 'copy' | 'nothing'): Promise<{ open: number; restarted: number; seconds: number }> {
    await this.own.killAll();
    const data = temporalData(this.own.data_dir);
    rmSync(data, { recursive: true });
    if (database === 'copy') cpSync(this.copy, data, { recursive: true });
    const began = performance.now();
    const stack = await this.own.start();
    this.use(stack, new Merchant(stack, this.merchant.api_key));
    const { checked, restarted, failed } = totalsOf(await this.admin<CheckCounts>('recover', '--all'));
    const missing = await this.withoutWorkflow();
    const seconds = secondsSince(began);
    this.say(`${database}: ${checked} checked, ${restarted} restarted in ${seconds} s`);
    this.violations.push(...missing.map(({ kind, id }) => `${database}: ${kind.name}: ${id} has no workflow`));
    if (checked + restarted === 0) this.violations.push(`${database}: nothing was checked`);
    if (failed > 0) this.violations.push(`${database}: ${failed} checks failed`);
    if (seconds > RECOVERED_WITHIN) this.violations.push(`${database}: recovered after ${seconds} s only`);
    return { open: this.opened.length, restarted, seconds };
  }

  /** Checks all rows while every workflow runs. Returns how many in a second. */
  async recoverRunning(): Promise<number> {
    const db = connectDatabase(this.stack.postgres_url, { pool_max: 10 });
    try {
      let [rows, began] = [0, 0];
      await withTemporal(this.stack, async (client) => {
        // The restarted workflows end their first tasks.
        await until('few tasks wait', async () => (await countWaitingTasks(client)) <= FEW_TASKS, 120_000);
        await sleep(QUIET_MS);
        began = performance.now();
        const log = createLogger({ process: 'proof', level: 'silent' });
        const services = { db, client, workflows: createWorkflowClients({ client, db }), log };
        const { checked, restarted, failed } = totalsOf(await recoverEverything(services, Date.now()));
        rows = checked + restarted + failed;
      });
      const rate = Math.round((rows * 1_000) / (performance.now() - began));
      this.say(`${rows} rows checked, ${rate} a second`);
      return rate;
    } finally {
      await db.destroy();
    }
  }

  /** Namespace, search attributes and schedules are there again. */
  async checkDoctor(): Promise<void> {
    const findWrong = async () =>
      (await this.admin<{ check: string; result: string; problem?: string }[]>('doctor'))
        .filter(({ result }) => result === 'wrong')
        .map(({ check, problem }) => `doctor: ${check}: ${problem}`);
    await until('doctor finds nothing wrong', async () => (await findWrong()).length === 0).catch(async () => {
      this.violations.push(...(await findWrong()));
    });
  }

  /** Open objects that no workflow continues. */
  private async withoutWorkflow(): Promise<Opened[]> {
    const missing: Opened[] = [];
    await withTemporal(this.stack, (client) =>
      severalAtOnce(LANES, this.opened, async (opened) => {
        const workflow = client.workflow.getHandle(opened.kind.workflowId(opened.id));
        const described = await workflow.describe().catch(() => undefined);
        if (described?.status.name !== 'RUNNING') missing.push(opened);
      }),
    );
    return missing;
  }

  private async admin<T>(...args: string[]): Promise<T> {
    return await answerOfAdmin<T>(args, { data_dir: this.own.data_dir });
  }
}

/** Checks of all kinds of rows together. */
const totalsOf = (counts: CheckCounts) => ({ checked: 0, restarted: 0, failed: 0, ...sumsOf(Object.values(counts)) });

const secondsSince = (began: number) => Math.round((performance.now() - began) / 1_000);
