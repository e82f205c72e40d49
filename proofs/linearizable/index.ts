import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../src/stack/files';
import { numbersFrom } from '../support/random';
import { checkInvariants } from '../invariants';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';
import { FaultInjector } from '../support/faults';
import { WiredStack } from '../support/wire';
import { checkHistories, testModel } from './check';
import { SharedOrder } from './drive';

const SIZES: Record<Size, { orders: number; operations: number }> = {
  ci: { orders: 40, operations: 20 },
  full: { orders: 200, operations: 20 },
};

export const linearizable: Proof = {
  name: 'linearizable',
  title:
    'Whatever eight clients do with one order at the same time while processes and connections fail, its money is as if they had acted one after the other.',
  not_proved: [
    'Ends of time windows, delayed captures, chargebacks, 3-D Secure and payment links: the model does not know them.',
    'A history of one order: that orders do not affect each other is not checked.',
    'Whether an unanswered request was carried out: both are allowed.',
  ],
  seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  in_ci: true,
  run,
};

async function run({ seed, size, say }: ProofInput): Promise<ProofOutcome> {
  const { orders, operations } = SIZES[size];
  await testModel();
  const random = numbersFrom(seed);
  const wired = new WiredStack('linearizable');
  const injector = new FaultInjector(
    { wired, random: numbersFrom(seed + 1_000) },
    { lanes: 1, storm_ms: 10_000, calm_ms: 5_000, say },
    // A weighted deck lasts longer than most runs: some would have no kill.
    'equal',
  );
  try {
    const stack = await wired.start();
    injector.start();
    const shared: SharedOrder[] = [];
    while (shared.length < orders) {
      const order = await SharedOrder.create(stack, random);
      await order.act(operations);
      shared.push(order);
      if (shared.length % 50 === 0) say(`${shared.length} orders`);
    }
    await injector.stop();
    await wired.own.ready();
    const violations = (await checkInvariants(stack, { only: ['ledger'], say })).map((one) => `seed ${seed}: ${one}`);
    for (const order of shared) await order.readFinally();
    const histories = shared.flatMap((order) => order.operations);
    const verdicts = await checkHistories(histories);
    for (const { order, result } of verdicts.filter((verdict) => verdict.result !== 'Ok')) {
      const file = path.join(repositoryRoot(), '.tools', `linearizable-${seed}-${order}.ndjson`);
      const lines = histories.filter((operation) => operation.order === order).map((one) => JSON.stringify(one));
      writeFileSync(file, `${lines.join('\n')}\n`);
      violations.push(`seed ${seed}: the history of order ${order} is ${result}: ${file}`);
    }
    return {
      counts: {
        orders: verdicts.length,
        operations: histories.length,
        'without an answer': histories.filter((one) => one.return === null).length,
        illegal: verdicts.filter(({ result }) => result === 'Illegal').length,
        undecided: verdicts.filter(({ result }) => result === 'Unknown').length,
      },
      injections: injector.counts(),
      violations,
    };
  } finally {
    await injector.end();
    await wired.discard();
  }
}
