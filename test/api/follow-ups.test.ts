import type { Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { FollowUps } from '../../api/follow-ups';
import { connect, type Database } from '../../src/db/connection';
import { books, payment, read, refund } from '../journeys/following';
import { Merchant } from '../support/client';
import { aSilentServer, type SilentServer } from '../support/silent-server';
import { stack } from '../support/stack';
import { temporalOf } from '../support/temporal-client';

/** The API's door to what follows a payment, when what is behind it is silent or has been there before. */
const shop = new Merchant();
let db: Database;
let silent: SilentServer;
const clients: Client[] = [];

function doorTo(address: string): FollowUps {
  const client = temporalOf({ ...stack(), temporal_address: address });
  clients.push(client);
  return new FollowUps(client, db);
}

beforeAll(async () => {
  db = connect(stack().postgres_url, { pool_max: 2 });
  silent = await aSilentServer();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.connection.close()));
  await silent.close();
  await db.destroy();
});

type Payment = { id: string; project_id: string; transactions?: { id: string }[] | undefined };
const inputOf = <Kind extends 'capture' | 'refund'>(order: Payment, kind: Kind, id = uuidv7()) =>
  ({
    id,
    project_id: order.project_id,
    kind,
    requested_by: 'merchant',
    original_order_id: order.id,
    original_transaction_id: payment(order),
    amount: 10,
  }) as const;

describe.each([
  ['says nothing', () => silent.address],
  ['is not there', () => '127.0.0.1:1'],
])('surface 10: Temporal %s', (_title, address) => {
  test('nothing is stored: 503 at the deadline, with a key without the promise that nothing was done', async () => {
    const order = await shop.paidOrder('approved');
    const began = Date.now();
    const door = doorTo(address());
    const input = { ...inputOf(order, 'refund'), not_after: began };
    await expect(door.start(input, began + 700)).rejects.toMatchObject({
      error: 'ServiceUnavailable',
      value: expect.stringContaining('nothing was stored') as string,
    });
    await expect(door.start({ ...input, not_after: undefined }, Date.now() + 700)).rejects.toMatchObject({
      error: 'ServiceUnavailable',
      value: expect.not.stringContaining('nothing was stored') as string,
    });
    await expect(
      door.captureOrVoid({ ...inputOf(order, 'capture'), not_after: began }, Date.now() + 700),
    ).rejects.toMatchObject({
      error: 'ServiceUnavailable',
    });
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(await read(shop, order)).not.toHaveProperty('related_orders');
  });

  test('the order is there: it is the answer, as it is', async () => {
    const order = await shop.paidOrder('approved');
    const { body } = await refund(shop, order, { amount: 10 });
    expect(await doorTo(address()).start(inputOf(order, 'refund', body.id), Date.now() + 700)).toMatchObject({
      id: body.id,
      status: 'completed',
    });
  });
});

const soon = () => Date.now() + 8_000;

describe('a refund that comes again', () => {
  test('joins the one that is under way, and is answered from the record when that is over', async () => {
    const order = await shop.paidOrder('approved', { amount: 100 });
    const client = temporalOf();
    clients.push(client);
    const door = new FollowUps(client, db);
    const input = inputOf(order, 'refund');
    const answers = await Promise.all([1, 2, 3].map(() => door.start(input, soon())));
    answers.push(await door.start(input, soon()));
    expect(answers.map(({ id, status }) => [id, status])).toEqual(Array(4).fill([input.id, 'completed']));
    expect(await books(shop, order)).toEqual(['sale approved 100', 'refund approved 10']);
  });

  test('after it was refused it is decided anew', async () => {
    const order = await shop.paidOrder('approved', { amount: 100 });
    const door = doorTo(stack().temporal_address);
    const input = { ...inputOf(order, 'refund'), amount: 101 };
    for (const _ of [1, 2]) await expect(door.start(input, soon())).rejects.toMatchObject({ error: 'RefundError' });
    expect(await door.start({ ...input, amount: 100 }, soon())).toMatchObject({
      id: input.id,
      status: 'completed',
      amount: 100,
    });
  });
});
