import { setTimeout as sleep } from 'node:timers/promises';
import { EVENTS_SUGGESTED_MAX } from '../../src/stack/servers/temporal';
import { orderWorkflowId, processorAnswered, recordChanged } from '../../workflows/messages';
import { Merchant } from '../support/merchant';
import { capturePart, createAuthorization, part, voidAll } from '../support/merchant-payments';
import { setUp } from '../support/set-up';
import { temporalOf } from '../support/temporal-client';
import { until } from '../support/waits';

/** A history that is long goes on as a new one. Of an order that is not paid: test/journeys/wrong-inputs.test.ts. */
const merchant = new Merchant();
const client = setUp(temporalOf, (one) => one.connection.close());

/** News that tell nothing, until there are so many events that it goes on in a new run. Answers the run it began in. */
async function untilItGoesOnAsNew(order_id: string, news = processorAnswered): Promise<string> {
  const handle = client.workflow.getHandle(orderWorkflowId(order_id));
  const { runId } = await handle.describe();
  const first = client.workflow.getHandle(orderWorkflowId(order_id), runId);
  for (
    let now = await first.describe();
    now.status.name === 'RUNNING' && now.historyLength <= EVENTS_SUGGESTED_MAX;
    now = await first.describe()
  ) {
    await Promise.all(Array.from({ length: 100 }, () => handle.signal(news)));
  }
  await until(
    'it goes on in a new run',
    async () => {
      if ((await first.describe()).status.name !== 'RUNNING') return true;
      // The suggestion comes with a task, and its last one may have begun before: news make another. Not so many that
      // none is ever done.
      await handle.signal(news);
      await sleep(1_000);
      return false;
    },
    120_000,
  );
  expect((await first.describe()).status.name).toBe('CONTINUED_AS_NEW');
  return runId;
}

test('an authorization whose history is long goes on in a new run, which captures and voids what is left', async () => {
  const order = await createAuthorization(merchant);
  await untilItGoesOnAsNew(order.id, recordChanged);
  expect((await capturePart(merchant, order, part(300))).body.status).toBe('completed');
  expect((await voidAll(merchant, order)).body).toMatchObject({ status: 'completed', amount: order.amount - 300 });
  expect(await client.workflow.getHandle(orderWorkflowId(order.id)).result()).toBe('completed');
}, 240_000);
