import type { History } from '@temporalio/common/lib/proto-utils';
import { queryRows } from '../../src/db/connection';
import { orderStatus, type Ending } from '../../src/domain/order';
import type { OrderStatus, TransactionStatus } from '../../src/domain/transitions';
import { historyToJson, replayHistories, type RecordedHistory } from '../../src/temporal/replay';
import { MINUTE } from '../../test/support/domain';
import { numbersFrom } from '../../test/support/killing';
import { ledgerDifferences } from '../../test/support/record-differences';
import { callSimulator, postControl, stack } from '../../test/support/stack';
import { workflowBundle } from '../../test/support/temporal';
import { until } from '../../test/support/waits';
import { beginLife, takeStep, workflowIdsOf, type Life } from './life';
import { createLifeWorld, type LifeWorld } from './world';

export interface LivesOutcome {
  lives: number;
  steps: number;
  histories: number;
  violations: string[];
}

const STEPS = 40;
/** Lives that are lived at the same time: the workflow time that passes between two steps is the same for all. */
const AT_ONCE = 25;
const SECOND = 1_000;
/** How long workflow time passes between two steps; 0: not at all. */
const PAUSES = [0, 0, 0, SECOND, 5 * SECOND, 20 * SECOND, MINUTE, 3 * MINUTE, 16 * MINUTE, 35 * MINUTE];

/**
 * Random lives of orders and links, each of forty steps, on a worker that replays every workflow at each task. Then
 * everything comes to its end: what the processor did is in the record, every status follows from its transactions,
 * every history replays. `single`: one life, by its number.
 */
export async function liveAll(
  { seed, count, single }: { seed: number; count: number; single: number | undefined },
  say: (line: string) => void,
): Promise<LivesOutcome> {
  const world = await createLifeWorld();
  const outcome: LivesOutcome = { lives: 0, steps: 0, histories: 0, violations: [] };
  try {
    const numbers = single === undefined ? Array.from({ length: count }, (_, n) => n) : [single];
    for (let i = 0; i < numbers.length; i += AT_ONCE) {
      await liveTogether(world, { seed, numbers: numbers.slice(i, i + AT_ONCE) }, outcome);
      say(`${outcome.lives} lives, ${outcome.histories} histories, ${outcome.violations.length} violations`);
    }
    // The processor is asked by nobody any more: whatever differs now stays different.
    outcome.violations.push(...(await ledgerDifferences({ ...stack(), postgres_url: world.database.url }, 0)));
  } finally {
    await world.discard();
  }
  return outcome;
}

async function liveTogether(
  world: LifeWorld,
  { seed, numbers }: { seed: number; numbers: number[] },
  outcome: LivesOutcome,
): Promise<void> {
  const lives = await Promise.all(numbers.map((number) => beginLife(world, number, seedOf(seed, number))));
  // Of the group, so that a life that is repeated alone has the same pauses.
  const pauses = numbersFrom(seedOf(seed, -1 - Math.floor(numbers[0]! / AT_ONCE)));
  for (let step = 0; step < STEPS; step += 1) {
    await Promise.all(lives.map((life) => takeStep(world, life)));
    const pause = PAUSES[Math.floor(pauses() * PAUSES.length)]!;
    if (pause > 0) await world.env.sleep(pause);
  }
  const lost = await Promise.all(lives.map((life) => historiesOf(world, life)));
  await comeToAnEnd(world, lives);
  for (const [i, life] of lives.entries()) {
    const histories = [...lost[i]!, ...(await historiesOf(world, life))];
    const violations = [
      ...life.wrong,
      ...(await wrongStatuses(world, life)),
      ...histories.flatMap(failuresIn),
      ...Object.entries(await replayHistories(await workflowBundle(), histories)).map(
        ([name, why]) => `${name}: ${why}`,
      ),
    ];
    outcome.lives += 1;
    outcome.steps += life.steps.length;
    outcome.histories += histories.length;
    const repeat = `life:${life.number}`;
    outcome.violations.push(...violations.map((one) => `${repeat}: ${one}; it was: ${life.steps.join(', ')}`));
  }
}

const seedOf = (seed: number, number: number) => (Math.imul(seed, 1_000_003) + number * 7_919) | 0;

/** Every customer leaves the issuer, the processor gives every outcome, and time passes until no workflow is open. */
async function comeToAnEnd(world: LifeWorld, lives: readonly Life[]): Promise<void> {
  const { env, database } = world;
  const finish = async () => {
    const open = await queryRows<{ challenge_url: string }>(
      database.db,
      'select challenge_url from transactions where challenge_url is not null',
      {},
    );
    const body = () => new URLSearchParams({ code: '3333' });
    await Promise.all(
      open.map(({ challenge_url }) => fetch(challenge_url, { method: 'POST', body: body(), redirect: 'manual' })),
    );
    await callSimulator(stack(), '/control/faults/', { method: 'DELETE' });
    await postControl(stack(), 'due', {});
  };
  await until(
    'all workflows end',
    async () => {
      await finish();
      await env.sleep(45 * MINUTE);
      const ids = (await Promise.all(lives.map((life) => workflowIdsOf(world, life)))).flat();
      const open = await Promise.all(ids.map((id) => isOpen(world, id)));
      return !open.includes(true);
    },
    600_000,
  );
}

async function isOpen({ env }: LifeWorld, id: string): Promise<boolean> {
  return await env.client.workflow
    .getHandle(id)
    .describe()
    .then(
      ({ status }) => status.name === 'RUNNING',
      () => false,
    );
}

async function historiesOf(world: LifeWorld, life: Life): Promise<RecordedHistory[]> {
  const { env } = world;
  const found = await Promise.all(
    (await workflowIdsOf(world, life)).map(async (id) => {
      const history = (await env.client.workflow
        .getHandle(id)
        .fetchHistory()
        .catch(() => undefined)) as History | undefined;
      return history === undefined ? [] : [{ name: id, history: historyToJson(history) }];
    }),
  );
  return found.flat();
}

/** Temporal's name of a task that failed because another event came first: it is made again. */
const UNHANDLED = 'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND';

function failuresIn({ name, history }: RecordedHistory): string[] {
  const { events = [] } = history as { events?: { workflowTaskFailedEventAttributes?: { cause?: string } }[] };
  return events.flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed == null || failed.cause === UNHANDLED ? [] : [`a task of ${name} failed: ${failed.cause}`],
  );
}

/** An order's status is the function of its transactions (rules 4.4), and none is open. */
async function wrongStatuses({ database }: LifeWorld, { order_ids, link }: Life): Promise<string[]> {
  const rows = await queryRows<{
    id: string;
    kind: string;
    status: OrderStatus;
    attempts_max: number;
    ended: Ending | null;
    statuses: TransactionStatus[];
    was_accepted: boolean;
  }>(
    database.db,
    `select o.id, o.kind, o.status, o.attempts_max, o.ended,
       array(select t.status from transactions t where t.order_id = o.id order by t.attempt) as statuses,
       exists (select 1 from transactions t join transaction_events e on e.transaction_id = t.id
               where t.order_id = o.id and e.event = 'accepted') as was_accepted
     from orders o where o.id = any(:order_ids::uuid[]) or o.related_order_id = any(:order_ids::uuid[])
       or o.related_payment_link_id = :link::uuid`,
    { order_ids, link: link?.id ?? null },
  );
  return rows.flatMap(({ id, kind, status, attempts_max, ended, statuses, was_accepted }) => {
    const facts = { transactions: statuses, was_accepted, attempts_max, ...(ended !== null && { ended }) };
    const expected = orderStatus(facts);
    if (status !== expected) return [`${kind} order ${id} is ${status}, its transactions say ${expected}`];
    return ['new', 'processing', 'see-transactions'].includes(status) ? [`${kind} order ${id} is still ${status}`] : [];
  });
}
