import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { OperationRequest } from '../../../src/processor/wire';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';
import { followUpOperation, startTestSimulator } from './support';

const receiver = setUp(startReceiver);
const bench = setUp(() => startTestSimulator({ notification_url: receiver.url }));
beforeEach(() => receiver.received.splice(0));

const execute = (operation: OperationRequest, key: string = randomUUID()) => bench.processor.execute(operation, key);
const last = async () => (await all()).at(-1)?.number ?? 0;
async function all(after = 0) {
  const settlements = [];
  for (;;) {
    const page = await bench.processor.settlements(settlements.at(-1)?.number ?? after);
    if (page.length === 0) return settlements;
    settlements.push(...page);
  }
}

test('rules 17.4: each operation that moved money is settled once: the amount less a fee; a refund without one', async () => {
  const sale = await bench.charge('approved', { amount: 10_000 });
  const held = await bench.charge('approved', { operation: 'authorize', amount: Number.MAX_SAFE_INTEGER });
  const reversed = await bench.charge('approved', { operation: 'authorize' });
  const small = await bench.charge('approved', { amount: 1 });
  const operations = [
    sale,
    held,
    followUpOperation(held, 'capture', Number.MAX_SAFE_INTEGER - 7),
    followUpOperation(held, 'void', 7),
    followUpOperation(sale, 'refund', 4_000),
    followUpOperation(sale, 'reversal', 6_000),
    reversed,
    followUpOperation(reversed, 'reversal', 1_000),
    await bench.charge('do_not_honor'),
    await bench.charge('processing_approved'),
    small,
  ];
  for (const operation of operations) await execute(operation);
  await bench.control('settlements', {});
  const settlements = await all();
  expect(
    settlements.map(({ operation, settlement_amount, fee_amount }) => [operation, settlement_amount, fee_amount]),
  ).toEqual(
    expect.arrayContaining([
      ['sale', 9_840, 160],
      ['capture', expect.any(Number), expect.any(Number)],
      ['refund', 4_000, undefined],
      ['reversal', 6_000, undefined],
      ['sale', 1, undefined],
    ]),
  );
  expect(settlements).toHaveLength(5);
  const captured = settlements.find(({ operation }) => operation === 'capture')!;
  expect(BigInt(captured.settlement_amount) + BigInt(captured.fee_amount!)).toBe(BigInt(Number.MAX_SAFE_INTEGER - 7));
  expect(captured).toMatchObject({
    transaction_id: held.transaction_id,
    follow_up_order_id: operations[2]!.follow_up_order_id,
  });
  await until('the settlements are notified', () =>
    receiver.received.some(({ body }) => body.includes('"settlements.created"')),
  );

  receiver.received.splice(0);
  await bench.control('settlements', {});
  expect(await all()).toEqual(settlements);
  expect(receiver.received).toEqual([]);
});

test('rules 17.4: each day settles what moved money before it', async () => {
  const before = await last();
  const [yesterday, today] = [await bench.charge('approved'), await bench.charge('approved')];
  await execute(yesterday, 'of-yesterday');
  await execute(today);
  const db = new Client({ connectionString: bench.postgres_url });
  await db.connect();
  await db.query("update operations set occurred = occurred - interval '1 day' where idempotency_key = 'of-yesterday'");
  await db.end();
  // A process settles with its first round.
  const next = await startTestSimulator({ postgres_url: bench.postgres_url });
  await until('there are new settlements', async () => ((await all(before)).length > 0 ? true : undefined));
  expect(await all(before)).toMatchObject([{ order_id: yesterday.order_id }]);
  await next.simulator.close();
  await next.processor.close();
});
