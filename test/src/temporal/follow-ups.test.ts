import type { Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import type { FollowUpWorkflows } from '../../../src/temporal/follow-ups';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { connectDatabase, type Database } from '../../../src/db/connection';
import type { AcceptedRequest } from '../../../src/domain/accepted-request';
import { Merchant } from '../../support/merchant';
import { getWholeOrder, payingTransactionId, refund } from '../../support/merchant-payments';
import { aSilentServer } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';
import { aRequest } from '../../support/domain';

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

describe.each([
  ['says nothing', () => silent.address],
  ['is not there', () => '127.0.0.1:1'],
])('rules 10.16: Temporal %s', (_title, address) => {
  test('nothing is stored: 503 at the deadline, with a key without the promise that nothing was done', async () => {
    const order = await merchant.paidOrder('approved');
    const began = Date.now();
    const follow_ups = followUpsAt(address());
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
    expect(await followUpsAt(address()).refund(input)).toMatchObject({
      id: body.id,
      status: 'completed',
    });
  });
});
