import type { Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import type { FollowUpWorkflows } from '../../../src/temporal/follow-ups';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { connectDatabase } from '../../../src/db/connection';
import type { Database } from '../../../src/db/query';
import type { AcceptedRequest } from '../../../src/domain/accepted-request';
import { Merchant } from '../../support/merchant';
import {
  amountDetailsOf,
  createAuthorization,
  getWholeOrder,
  payingTransactionId,
  refund,
} from '../../support/merchant-payments';
import { aSilentServer } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';
import { aRequest } from '../../support/domain';
import { until } from '../../support/waits';
import { orderWorkflowId } from '../../../workflows/messages';

const merchant = new Merchant();
let db: Database;
const silent = setUp(aSilentServer);
const clients: Client[] = [];

function followUpsAt(address: string): FollowUpWorkflows {
  const client = temporalOf({ ...stack(), temporal_address: address });
  clients.push(client);
  return createWorkflowClients({ client, db }).follow_ups;
}

beforeAll(() => {
  db = connectDatabase(stack().postgres_url, { pool_max: 2 });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.connection.close()));
  await db.destroy();
});

type Payment = { id: string; project_id: string; transactions?: { id: string }[] | undefined };
const inputOf = <Kind extends 'capture' | 'refund'>(order: Payment, kind: Kind, id = uuidv7()) =>
  ({
    request: aRequest(),
    id,
    project_id: order.project_id,
    kind,
    requested_by: 'merchant',
    original_order_id: order.id,
    original_transaction_id: payingTransactionId(order),
    amount: 10,
  }) as const;

describe('rules 10.16: Temporal says nothing', () => {
  test('nothing is stored: 503 at the deadline, with a key without the promise that nothing was done', async () => {
    const order = await merchant.paidOrder('approved');
    const began = Date.now();
    const follow_ups = followUpsAt(silent.address);
    const input = inputOf(order, 'refund');
    const within700ms = (over: Partial<AcceptedRequest> = {}) => aRequest({ deadline_at: Date.now() + 700, ...over });
    const withoutKey = () => within700ms({ begin_before: began });
    await expect(follow_ups.refund({ ...input, request: withoutKey() })).rejects.toMatchObject({
      error: 'ServiceUnavailable',
      value: expect.stringContaining('nothing was stored') as string,
    });
    await expect(follow_ups.refund({ ...input, request: within700ms() })).rejects.toMatchObject({
      error: 'ServiceUnavailable',
      value: expect.not.stringContaining('nothing was stored') as string,
    });
    await expect(
      follow_ups.captureOrVoid({ ...inputOf(order, 'capture'), request: withoutKey() }),
    ).rejects.toMatchObject({
      error: 'ServiceUnavailable',
    });
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(await getWholeOrder(merchant, order)).not.toHaveProperty('related_orders');
  });

  test('the order is there: it is the answer, as it is', async () => {
    const order = await merchant.paidOrder('approved');
    const { body } = await refund(merchant, order, { amount: 10 });
    const input = { ...inputOf(order, 'refund', body.id), request: aRequest({ deadline_at: Date.now() + 700 }) };
    expect(await followUpsAt(silent.address).refund(input)).toMatchObject({
      id: body.id,
      status: 'completed',
    });
  });
});

test('rules 10.19: a capture whose record was lost is made again by its key, while its payment goes on', async () => {
  const payment = await createAuthorization(merchant);
  const follow_ups = followUpsAt(stack().temporal_address);
  const input = inputOf(payment, 'capture');
  const capture = () => follow_ups.captureOrVoid({ ...input, request: aRequest() });
  expect(await capture()).toMatchObject({ id: input.id, status: 'completed' });
  await until('its workflow has ended', async () => {
    const { status } = await clients.at(-1)!.workflow.getHandle(orderWorkflowId(input.id)).describe();
    return status.name === 'COMPLETED';
  });
  const own = db('transactions').where({ order_id: input.id });
  await db('transaction_events').whereIn('transaction_id', own.clone().select('id')).delete();
  await own.delete();
  await db('webhook_deliveries').where({ order_id: input.id }).delete();
  await db('orders').where({ id: input.id }).delete();
  await db('transactions').where({ order_id: payment.id }).update({ captured_amount: 0 });
  expect(await capture()).toMatchObject({ id: input.id, status: 'completed' });
  expect(await amountDetailsOf(merchant, payment)).toMatchObject({ captured: 10 });
  expect((await merchant.ledger(payment.id)).map(({ operation }) => operation)).toEqual(['authorize', 'capture']);
});

/** As `client`, but Temporal refuses its first try to start and update a workflow, as while credentials are replaced. */
function refusedOnce(client: Client): Client {
  let refused = false;
  const workflow = new Proxy(client.workflow, {
    get: (target, name: keyof Client['workflow']) => {
      if (name === 'executeUpdateWithStart' && !refused) {
        refused = true;
        return () => Promise.reject(Object.assign(new Error('7'), { code: 7, details: 'no permission', metadata: {} }));
      }
      const member = target[name] as unknown;
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return new Proxy(client, { get: (target, name: keyof Client) => (name === 'workflow' ? workflow : target[name]) });
}

test.each([
  ['', (client: Client) => client],
  [', also when Temporal refuses the first try of its repeat', refusedOnce],
])('rules 11.2: a refund that its workflow has refused stays refused for its key%s', async (_title, ofRepeat) => {
  const payment = await merchant.paidOrder('approved');
  const follow_ups = followUpsAt(stack().temporal_address);
  const repeated = createWorkflowClients({ client: ofRepeat(clients.at(-1)!), db }).follow_ups;
  const setAside = (amount: unknown) =>
    db('transactions').where({ order_id: payment.id }).update({ refund_pending_amount: amount });
  const input = inputOf(payment, 'refund');
  await setAside(db.ref('captured_amount'));
  // The process that got this refusal dies before it keeps it with the key.
  await expect(follow_ups.refund(input)).rejects.toMatchObject({ error: 'RefundError' });
  await setAside(0);
  await expect(repeated.refund({ ...input, request: aRequest() })).rejects.toMatchObject({ error: 'RefundError' });
  expect(await follow_ups.refund(inputOf(payment, 'refund'))).toMatchObject({ status: 'completed' });
  expect((await merchant.ledger(payment.id)).map(({ operation }) => operation)).toEqual(['sale', 'refund']);
});
