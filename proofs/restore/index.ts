import { setTimeout as sleep } from 'node:timers/promises';
import { queryRows } from '../../src/db/connection';
import { OwnStack, type RunningStack } from '../../test/support/stack';
import { answerOfCommand, createTestProject } from '../../test/support/operator';
import { checkInvariants } from '../invariants';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';
import { runLoad } from '../support/load';
import { startFailingReceiver } from '../support/receivers';
import { copyRecord, restoreCopy, withDatabase } from './record-copy';

/** `copied_after`: how far the load is when the copy is made, as a share. */
const SIZES: Record<Size, { orders: number; per_second: number; copied_after: number }> = {
  ci: { orders: 80, per_second: 4, copied_after: 0.4 },
  full: { orders: 1_000, per_second: 6, copied_after: 0.6 },
};
const MERCHANTS = 4;

export const restore: Proof = {
  name: 'restore',
  title:
    'After the record is restored from a copy of some time ago, reconciling it with the workflows and the processor loses no order and no money.',
  not_proved: [
    'The copy is one of the database, taken between two transactions; backup tools and their archives are not tried.',
    'What only the database knew since the copy: new merchants, projects and keys, changed fields of orders, pauses of webhooks.',
    'A Temporal that is restored too, or a processor that forgets its keys.',
  ],
  seeds: [1],
  in_ci: true,
  run,
};

interface Reconciled {
  rewritten: number;
  open: string[];
}

async function run({ seed, size, say }: ProofInput): Promise<ProofOutcome> {
  const { orders, per_second, copied_after } = SIZES[size];
  const receiver = await startFailingReceiver(0);
  const own = new OwnStack('restore', () => ({ RATE_LIMIT_PER_SECOND: '0' }));
  try {
    const stack = await own.start();
    const { merchant } = await createTestProject({}, stack);
    const copied = sleep((orders / per_second) * 1_000 * copied_after).then(() => copyRecord(stack));
    const load = await runLoad({
      ...{ stack, seed, orders, per_second, say, merchants: MERCHANTS },
      ...{ webhook_url: receiver.url, processor_faults: 0 },
    });
    await copied;
    const before = await countOrders(stack);
    const began = performance.now();
    await restoreCopy(stack);
    const lost = before - (await countOrders(stack));
    say(`${lost} of ${before} orders are lost`);
    await own.ready();
    const violations: string[] = [];
    const admin = (...args: string[]) =>
      answerOfCommand<Reconciled>(['restore', ...args], { data_dir: stack.data_dir });
    await admin('begin');
    await sleep(2_000);
    const { status } = await merchant.send('POST', '/v1/orders/', { body: {} });
    if (status !== 503) violations.push(`a new order is answered with ${status} during the restore`);
    const reconciled = await admin('reconcile');
    const again = await admin('reconcile');
    if (again.rewritten !== reconciled.rewritten) violations.push('a second reconciliation writes more again');
    const open = reconciled.open;
    await admin('end', ...(open.length > 0 ? ['--accept', 'for the proof'] : []));
    const seconds = Math.round((performance.now() - began) / 1_000);
    say(`reconciled ${JSON.stringify(reconciled)}; checking the invariants`);
    violations.push(...open);
    const after = await countOrders(stack);
    if (after !== before) violations.push(`${before} orders before the restore, ${after} after it`);
    violations.push(...(await checkInvariants(stack, { say })), ...load.unfinished);
    return {
      counts: {
        'orders, follow-up orders included': before,
        'lost by the restore': lost,
        'objects written again': reconciled.rewritten,
        'seconds from the restore to its end': seconds,
      },
      violations: violations.map((violation) => `seed ${seed}: ${violation}`),
    };
  } finally {
    await own.discard();
    await receiver.close();
  }
}

const countOrders = async ({ postgres_url }: RunningStack) =>
  await withDatabase(postgres_url, async (db) => {
    const [row] = await queryRows<{ orders: number }>(db, 'select count(*)::int as orders from orders', {});
    return row!.orders;
  });
