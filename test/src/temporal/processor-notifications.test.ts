import type { Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { FollowUpWorkflows } from '../../../src/temporal/follow-ups';
import { ProcessorNotifications } from '../../../src/temporal/processor-notifications';
import { connectDatabase, type Database } from '../../../src/db/connection';
import { processorOrderId } from '../../../src/ids';
import type { OperationResult } from '../../../src/processor/wire';
import { entriesOf } from '../../support/ledger';
import { Merchant } from '../../support/merchant';
import { controlSimulator, getWholeOrder, payingTransactionId, untilFollowUp } from '../../support/merchant-payments';
import { aSilentServer, type SilentServer } from '../../support/servers';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';

const merchant = new Merchant();
let db: Database;
let silent: SilentServer;
const clients: Client[] = [];
const polled: string[] = [];

function notificationsAt(address: string): ProcessorNotifications {
  const client = temporalOf({ ...stack(), temporal_address: address });
  clients.push(client);
  const requestPoll = async (order_id: string) => void polled.push(order_id);
  const follow_ups = Object.assign(new FollowUpWorkflows({ client, db }, { requestPoll }), { requestPoll });
  return new ProcessorNotifications({ client, db }, { requestPoll }, follow_ups);
}

beforeAll(async () => {
  db = connectDatabase(stack().postgres_url, { pool_max: 2 });
  silent = await aSilentServer();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.connection.close()));
  await silent.close();
  await db.destroy();
});
beforeEach(() => void polled.splice(0));

type Payment = { id: string; project_id: string; transactions?: { id: string }[] | undefined };
const resultOf = (order: Payment, over: Partial<OperationResult>): OperationResult => ({
  operation: 'sale',
  idempotency_key: 'k',
  order_id: order.id,
  transaction_id: payingTransactionId(order),
  amount: 10,
  currency: 'EUR',
  result: 'approved',
  occurred: new Date().toISOString(),
  ...over,
});
const soon = () => Date.now() + 8_000;

describe.each([
  ['says nothing', () => silent.address],
  ['is not there', () => '127.0.0.1:1'],
])('Temporal %s', (_title, address) => {
  test('503: the processor sends the notification again', async () => {
    const order = await merchant.paidOrder('approved');
    await expect(
      notificationsAt(address()).handle(
        resultOf(order, { operation: 'chargeback', idempotency_key: 'k' }),
        Date.now() + 700,
      ),
    ).rejects.toMatchObject({
      error: 'ServiceUnavailable',
    });
  });
});

test('of a payment: its order is told to ask; of a follow-up order: that one is', async () => {
  const notifications = notificationsAt(stack().temporal_address);
  const order = await merchant.paidOrder('approved');
  const follow_up_order_id = uuidv7();
  await notifications.handle(resultOf(order, {}), soon());
  await notifications.handle(resultOf(order, { operation: 'refund', follow_up_order_id }), soon());
  expect(polled).toEqual([order.id, follow_up_order_id]);
  expect(await getWholeOrder(merchant, order)).not.toHaveProperty('related_orders');
});

test('of a chargeback that the processor does not know of: nothing is recorded', async () => {
  const notifications = notificationsAt(stack().temporal_address);
  const order = await merchant.paidOrder('approved');
  const key = `${payingTransactionId(order)}:charge:chargeback:invented`;
  await notifications.handle(resultOf(order, { operation: 'chargeback', idempotency_key: key }), soon());
  // Neither is a charge's own key one of a chargeback.
  await notifications.handle(
    resultOf(order, { operation: 'chargeback', idempotency_key: `${payingTransactionId(order)}:charge` }),
    soon(),
  );
  // Told of one that is there, it is recorded: the others would have been by then.
  await controlSimulator(merchant, 'chargebacks', { transaction_id: payingTransactionId(order), amount: 5 });
  const recorded = await untilFollowUp(merchant, order, 'is-chargeback');
  const [entry] = await entriesOf(merchant, order, 'chargeback');
  expect(recorded.id).toBe(processorOrderId(payingTransactionId(order), entry!.idempotency_key));
  await notifications.handle(
    resultOf(order, { operation: 'chargeback', idempotency_key: entry!.idempotency_key, amount: 999 }),
    soon(),
  );
  expect((await getWholeOrder(merchant, order)).chargeback_orders).toEqual([recorded.id]);
  expect(recorded.amount).toBe(5);
});

test("of a payment that is nobody's: nothing", async () => {
  const nobody = { id: uuidv7(), project_id: uuidv7(), transactions: [{ id: uuidv7() }] };
  await expect(
    notificationsAt(stack().temporal_address).handle(resultOf(nobody, { operation: 'chargeback' }), soon()),
  ).resolves.toBeUndefined();
});
