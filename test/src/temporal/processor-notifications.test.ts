import { v7 as uuidv7 } from 'uuid';
import { FollowUpWorkflows } from '../../../src/temporal/follow-ups';
import { ProcessorNotifications } from '../../../src/temporal/processor-notifications';
import { connectDatabase } from '../../../src/db/connection';
import type { Database } from '../../../src/db/query';
import type { OperationResult } from '../../../src/processor/wire';
import { Merchant } from '../../support/merchant';
import { getWholeOrder, payingTransactionId } from '../../support/merchant-payments';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';

const merchant = new Merchant();
let db: Database;
const client = setUp(temporalOf, (one) => one.connection.close());
const polled: string[] = [];

function aHandler(): ProcessorNotifications {
  const requestPoll = async (order_id: string) => void polled.push(order_id);
  const follow_ups = Object.assign(new FollowUpWorkflows({ client, db }, { requestPoll }), { requestPoll });
  return new ProcessorNotifications({ client, db }, { requestPoll }, follow_ups);
}

beforeAll(() => {
  db = connectDatabase(stack().postgres_url, { pool_max: 2 });
});
afterAll(() => db.destroy());
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

test('of a payment: its order is told to ask; of a follow-up order: that one is', async () => {
  const notifications = aHandler();
  const order = await merchant.paidOrder('approved');
  const follow_up_order_id = uuidv7();
  await notifications.handle(resultOf(order, {}), soon());
  await notifications.handle(resultOf(order, { operation: 'refund', follow_up_order_id }), soon());
  expect(polled).toEqual([order.id, follow_up_order_id]);
  expect(await getWholeOrder(merchant, order)).not.toHaveProperty('related_orders');
});

test("of a payment that is nobody's: nothing", async () => {
  const nobody = { id: uuidv7(), project_id: uuidv7(), transactions: [{ id: uuidv7() }] };
  await expect(aHandler().handle(resultOf(nobody, { operation: 'chargeback' }), soon())).resolves.toBeUndefined();
});
