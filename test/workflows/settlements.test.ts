import type { Settlement } from '../../src/processor/wire';
import { SETTLEMENTS_WORKFLOW, TASK_QUEUE } from '../../workflows/messages';
import { describeFetch } from '../../workflows/settlements';
import { CARDS, transactionIdOf } from '../support/domain';
import { readLedger } from '../support/ledger';
import { runProcessor } from '../support/processor';
import { writeOrders } from '../support/rows';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import { becomesDue, createAnOrder, moneySummaryOf } from '../support/workflow-orders';

const WAITING = Date.UTC(2026, 0, 15, 12);

test.each([
  [{ settled: 12, waiting: 0 }, 'Settled 12 transactions.'],
  [
    { settled: 0, waiting: 2, waiting_since: WAITING },
    'Settled 0 transactions. 2 settlements wait for their transaction, the oldest since 2026-01-15T12:00:00.000Z: see settlement list of the command line',
  ],
])('an operator reads what was fetched: %j', (fetched, words) => {
  expect(describeFetch(fetched)).toBe(words);
});

describe('the workflow', () => {
  let settled: Settlement[] = [];
  let failures = 1;
  const world = setUp(() => {
    const processor = {
      ...runProcessor(),
      async settlements(after: number) {
        if (failures-- > 0) throw new Error('away');
        return settled.filter((one) => one.number > after);
      },
    };
    return createWorkflowEnvironment({ services: { processor } });
  });

  const run = async (workflowId: string) => {
    const handle = await world.env.client.workflow.start(SETTLEMENTS_WORKFLOW, { workflowId, taskQueue: TASK_QUEUE });
    const result: unknown = await handle.result();
    const { searchAttributes } = await handle.describe();
    return { result, attention: searchAttributes['Attention'] };
  };

  it('rules 20.20: asks until the processor answers, and carries Attention once a settlement has waited for a day', async () => {
    const [order_id] = await writeOrders(world.database.db, [{}]);
    const of = (number: number, id: string): Settlement => ({
      number,
      operation: 'sale',
      idempotency_key: `k${number}`,
      order_id: id,
      transaction_id: transactionIdOf(id, 1),
      settlement_currency: 'EUR',
      settlement_amount: 100,
    });
    settled = [of(1, order_id!), of(2, '0190c000-0000-7000-8000-0000000000f2')];
    expect(await run('first')).toEqual({
      result: { settled: 1, waiting: 1, waiting_since: expect.any(Number) },
      attention: undefined,
    });
    await world.env.sleep('25 hours');
    expect(await run('second')).toMatchObject({
      result: { settled: 0, waiting: 1 },
      attention: ['a settlement has waited for its transaction for more than a day'],
    });
  });

  it('rules 9.10: a chargeback whose notification was lost is recorded when it is settled, once', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.chargeback.number });
    // The processor notifies the run's stack, which does not have the order.
    await becomesDue(order);
    const chargeback = (await readLedger(order.id)).find(({ operation }) => operation === 'chargeback')!;
    expect(await moneySummaryOf(order)).toBe('500 captured');
    const { idempotency_key } = chargeback;
    const transaction_id = transactionIdOf(order.id, 1);
    const of = { operation: 'chargeback' as const, idempotency_key, order_id: order.id, transaction_id };
    settled = [{ number: 3, ...of, settlement_currency: 'EUR', settlement_amount: 500 }];
    await run('third');
    await until('the chargeback is recorded', async () => (await moneySummaryOf(order)) !== '500 captured');
    settled = [{ number: 4, ...of, settlement_currency: 'EUR', settlement_amount: 500 }];
    expect((await run('fourth')).result).toMatchObject({ settled: 1 });
    expect(await moneySummaryOf(order)).toBe('500 captured, 500 charged_back: chargeback completed');
  });
});
