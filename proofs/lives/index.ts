import path from 'node:path';
import { connectDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { repositoryRoot } from '../../src/stack/files';
import { newIdempotencyKey } from '../../test/support/merchant';
import { createTestProject } from '../../test/support/operator';
import { answerIssuer } from '../../test/support/processor';
import { callSimulator, OwnStack, postControl } from '../../test/support/stack';
import { temporalOf } from '../../test/support/temporal-client';
import { checkInvariants } from '../invariants';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { startFailingReceiver } from '../support/receivers';
import { numbersFrom } from '../support/random';
import { countUp } from '../support/shop';
import { Life, type LivesWorld } from './life';

const LIVES: Record<Size, number> = { ci: 12, full: 1_000 };
const STEPS = 40;
/** Lives that are lived at the same time. */
const AT_ONCE = 20;
const SHARE_OF_FAILED_WEBHOOKS = 0.15;
/** How often clocks are advanced by a day until all orders and links have ended. */
const DAYS_MAX = 30;
const WITHIN_MS = 600_000;

export const lives: Proof = {
  name: 'lives',
  title:
    'Whatever happens to an order or a link in a life of forty steps, its workflows replay at every task, and every invariant holds once it has ended.',
  not_proved: [
    'Pauses between polls, which no sandbox clock shortens: outcomes that come late come by a notification.',
    'The order of steps that are taken at once: a life that is repeated may see another one.',
  ],
  seeds: [1],
  in_ci: true,
  run,
};

async function run({ seed, size, single, say }: ProofInput): Promise<ProofOutcome> {
  const receiver = await startFailingReceiver(SHARE_OF_FAILED_WEBHOOKS);
  const program = (name: string) => path.join(repositoryRoot(), 'dist', 'proofs', 'lives', `${name}.js`);
  const programs = ['--api', program('api'), '--worker', program('worker')];
  const own = new OwnStack('lives', () => ({ RATE_LIMIT_PER_SECOND: '0' }), programs);
  const closing: (() => Promise<unknown>)[] = [() => own.discard(), () => receiver.close()];
  try {
    const stack = await own.start();
    const { merchant } = await createTestProject({ webhook_url: receiver.url }, stack);
    const db = connectDatabase(stack.postgres_url, { pool_max: 2 });
    const temporal = temporalOf(stack);
    closing.unshift(
      () => db.destroy(),
      () => temporal.connection.close(),
    );
    const world: LivesWorld = { stack, merchant, db, temporal };
    const numbers = single === undefined ? Array.from({ length: LIVES[size] }, (_, n) => n) : [Number(single)];
    const lived: Life[] = [];
    while (lived.length < numbers.length) {
      const together = numbers.slice(lived.length, lived.length + AT_ONCE);
      lived.push(...(await liveTogether(world, together, seed)));
      if (lived.length % 100 === 0) say(`${lived.length} lives`);
    }
    await comeToAnEnd(world);
    const options = { within_ms: WITHIN_MS, histories_max: Number.POSITIVE_INFINITY, say };
    const violations = [
      ...lived.flatMap(({ number, wrong, steps }) =>
        wrong.map((one) => `seed ${seed}, case ${number}: ${one}; it was: ${steps.join(', ')}`),
      ),
      ...(await checkInvariants(stack, options)).map((one) => `seed ${seed}: ${one}`),
    ];
    const counted = await countRows(world);
    const steps = lived.reduce((sum, life) => sum + life.steps.length, 0);
    return { counts: { lives: lived.length, steps, ...counted }, violations, details: answersOf(lived) };
  } finally {
    for (const close of closing) await close();
  }
}

async function liveTogether(world: LivesWorld, numbers: readonly number[], seed: number): Promise<Life[]> {
  return await Promise.all(
    numbers.map(async (number) => {
      const life = new Life(world, number, numbersFrom(seed * 1_000_003 + number));
      await life.begin();
      for (let step = 0; step < STEPS; step += 1) await life.live();
      return life;
    }),
  );
}

/** How often each step was taken, with its answers. */
function answersOf(lived: readonly Life[]): string {
  const tally: Record<string, number> = {};
  for (const step of lived.flatMap(({ steps }) => steps)) countUp(tally, step);
  const rows = Object.entries(tally).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `Steps with their answers, those without anything to do in brackets: ${rows.map(([step, times]) => `${step} (${times})`).join(', ')}.`;
}

/** Customers leave the issuer, the processor gives every outcome, and the clocks go on until nothing is open. */
async function comeToAnEnd(world: LivesWorld): Promise<void> {
  const { stack, db, merchant } = world;
  await callSimulator(stack, '/control/faults/', { method: 'DELETE' });
  for (let day = 0; day < DAYS_MAX; day += 1) {
    const challenges = await queryRows<{ challenge_url: string }>(
      db,
      `select challenge_url from transactions where challenge_url is not null and status in ('new', 'pending', 'processing')`,
    );
    for (const { challenge_url } of challenges) {
      await answerIssuer(challenge_url, { action: 'cancel' });
    }
    await postControl(stack, 'due', {});
    const open = await openObjects(world);
    if (open.length === 0) return;
    await severalAtOnce(AT_ONCE, open, async (object) => {
      const headers = { 'idempotency-key': newIdempotencyKey() };
      await merchant.send('POST', `${object}test-clock/`, { body: { advance: 'P1D' }, headers });
    });
  }
}

/** Paths of the orders and links that time still changes. */
async function openObjects({ db }: LivesWorld): Promise<string[]> {
  const rows = await queryRows<{ path: string }>(
    db,
    `select format('/v1/orders/%s/', o.id) as path from orders o
     where o.kind = 'payment' and o.related_payment_link_id is null
       and (o.status in ('new', 'processing', 'see-transactions')
         or exists (select 1 from transactions t where t.order_id = o.id and t.capture_mode is not null
                    and t.status = 'accepted' and t.captured_amount + t.voided_amount < t.amount)
         or exists (select 1 from webhook_deliveries d where d.order_id = o.id and d.status = 'new'))
     union all
     select format('/v1/paymentlinks/%s/', l.id) from payment_links l
     where l.status in ('new', 'processing', 'all_unsuccessful')`,
  );
  return rows.map((row) => row.path);
}

/** What the lives left in the record. */
async function countRows({ db }: LivesWorld): Promise<Record<string, number>> {
  const [row] = await queryRows<Record<string, number>>(
    db,
    `select (select count(*)::int from orders) as orders, (select count(*)::int from payment_links) as links,
       (select count(*)::int from webhook_deliveries) as webhooks`,
  );
  return { ...row };
}
