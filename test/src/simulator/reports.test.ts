import { randomUUID } from 'node:crypto';
import { REPORT_ORDERS_MAX } from '../../../src/processor/wire';
import { setUp } from '../../support/set-up';
import { followUpOperation, startTestSimulator } from './support';

const bench = setUp(() => startTestSimulator());
const EVER = { since: 0, until: Date.UTC(2100, 0) };

test('rules 17.8: operations are reported by order and by period, with their settlements, in pages', async () => {
  const began = Date.now();
  const sale = await bench.charge('approved', { amount: 10_000 });
  const [sale_key, refund_key] = [randomUUID(), randomUUID()];
  await bench.processor.execute(sale, sale_key);
  await bench.processor.execute(followUpOperation(sale, 'refund', 4_000), refund_key);
  const declined = await bench.charge('do_not_honor');
  await bench.processor.execute(declined, randomUUID());
  await bench.control('settlements', { order_id: sale.order_id });

  const of_order = await bench.processor.operations({ order_ids: [sale.order_id, randomUUID()] }, 0);
  expect(of_order).toMatchObject([
    { operation: 'sale', idempotency_key: sale_key, amount: 10_000, result: 'approved', project_id: bench.project_id },
    { operation: 'refund', idempotency_key: refund_key, amount: 4_000, settlement: { settlement_amount: 4_000 } },
  ]);
  expect(of_order[0]!.settlement).toMatchObject({ settlement_amount: 9_840, fee_amount: 160 });
  const all = await bench.processor.operations({ since: began, until: Date.now() + 1 }, 0);
  expect(all.map(({ operation, result }) => `${operation} ${result}`)).toEqual([
    'sale approved',
    'refund approved',
    'sale declined',
  ]);
  expect(await bench.processor.operations(EVER, all[1]!.number)).toEqual([all[2]]);
  expect(await bench.processor.operations({ since: 0, until: began }, 0)).toEqual([]);
  await expect(
    bench.processor.operations({ order_ids: Array.from({ length: REPORT_ORDERS_MAX + 1 }, () => randomUUID()) }, 0),
  ).rejects.toMatchObject({ error: 'FailedToFetchTransactionInformation' });
});

test('rules 17.8: totals are the sums of approved operations, with what is settled up to a number', async () => {
  const of = { project_id: bench.project_id, currency: 'EUR' };
  const totals = async (settled_up_to: number) =>
    (await bench.processor.totals(EVER, settled_up_to)).toSorted((a, b) => a.operation.localeCompare(b.operation));
  expect(await totals(0)).toEqual([
    { ...of, operation: 'refund', amount: 4_000n, settlement_amount: 0n, fee_amount: 0n },
    { ...of, operation: 'sale', amount: 10_000n, settlement_amount: 0n, fee_amount: 0n },
  ]);
  const last = (await bench.processor.settlements(0)).at(-1)!.number;
  expect(await totals(last)).toEqual([
    { ...of, operation: 'refund', amount: 4_000n, settlement_amount: 4_000n, fee_amount: 0n },
    { ...of, operation: 'sale', amount: 10_000n, settlement_amount: 9_840n, fee_amount: 160n },
  ]);
});

test('rules 17.8: totals of the largest amounts are exact', async () => {
  const since = Date.now();
  const paid = [0, 0, 2].map((less) => bench.charge('approved', { amount: Number.MAX_SAFE_INTEGER - less }));
  for (const sale of await Promise.all(paid)) await bench.processor.execute(sale, randomUUID());
  const totals = await bench.processor.totals({ ...EVER, since }, 0);
  expect(totals).toMatchObject([{ operation: 'sale', amount: 27_021_597_764_222_971n }]);
});
