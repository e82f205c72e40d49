import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { requestedId } from '../../../src/ids';
import { OrderWorkflows } from '../../../src/temporal/orders';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { connectDatabase } from '../../../src/db/connection';
import { createTestDatabase } from '../../support/database';
import { aLateRequest, aRequest, anOrder, aTransaction, MINUTE } from '../../support/domain';
import { Merchant, newIdempotencyKey } from '../../support/merchant';
import { aStoredOrder } from '../../support/rows';
import { aSilentServer } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';
import { orderWorkflowId } from '../../../workflows/messages';

const database = setUp(() => createTestDatabase());
const silent = setUp(aSilentServer);
const clients: Client[] = [];

/** A client of a Temporal server at this address. */
function clientOf(address: string): Client {
  const client = temporalOf({ ...stack(), temporal_address: address });
  clients.push(client);
  return client;
}

afterAll(async () => {
  await Promise.all(clients.map((client) => client.connection.close()));
});

/** A request that is answered within so many milliseconds. */
const within = (ms: number) => aRequest({ deadline_at: Date.now() + ms });
const creation = (order = anOrder(), request = aRequest()) => ({ request, order, period: 60_000, is_test: true });

describe.each([
  ['says nothing', () => silent.address],
  ['is not there', () => '127.0.0.1:1'],
])('rules 10.16: Temporal %s', (_title, address) => {
  test('rules 18.5: nothing is stored: 503 at the deadline, not later', async () => {
    const began = Date.now();
    await expect(
      new OrderWorkflows({ client: clientOf(address()), db: database.db }).create(creation(anOrder(), within(1_500))),
    ).rejects.toMatchObject({
      error: 'ServiceUnavailable',
    });
    expect(Date.now() - began).toBeLessThan(10_000);
  });

  test('the order is there: it is the answer, as it is', async () => {
    const { id: order_id } = await aStoredOrder(database.db);
    const orders = new OrderWorkflows({ client: clientOf(address()), db: database.db });
    expect(await orders.create(creation(anOrder({ id: order_id }), within(800)))).toMatchObject({
      id: order_id,
      status: 'new',
    });
    expect(await orders.cancel(order_id, { source: 'merchant', request: within(800) })).toMatchObject({
      id: order_id,
      status: 'new',
    });
  });
});

test('rules 10.19: an order that is lost while it is paid or cancelled is not found; nothing is said of a charge', async () => {
  const orders = new OrderWorkflows({ client: clientOf('127.0.0.1:1'), db: database.db });
  const order = anOrder();
  const transaction = { ...aTransaction(order.id), period: MINUTE, payment_method_details: { vault_token: 'vt' } };
  const payment = { project_id: order.project_id, is_test: true, transaction };
  const formSent = () => aRequest({ deadline_at: Date.now() + 500, begin_before: Date.now() + 500 });
  for (const send of [
    () => orders.pay(order.id, { ...payment, request: within(500) }),
    () => orders.pay(order.id, { ...payment, request: formSent() }),
    () => orders.cancel(order.id, { source: 'merchant', request: within(500) }),
  ]) {
    await expect(send()).rejects.toMatchObject({ error: 'NotFound' });
  }
});

test('rules 11.5: a creation that was given up, sent again with its key, is done: its refusal is not kept', async () => {
  const db = connectDatabase(stack().postgres_url, { pool_max: 2 });
  try {
    const orders = new OrderWorkflows({ client: clientOf(stack().temporal_address), db });
    const order = anOrder({ project_id: (await new Merchant().getProject()).id });
    await expect(orders.create(creation(order, aLateRequest()))).rejects.toMatchObject({
      error: 'ServiceUnavailable',
    });
    for (const _ of ['first', 'again']) {
      expect(await orders.create(creation(order))).toMatchObject({ id: order.id, status: 'new' });
    }
    expect(await orders.cancel(order.id, { source: 'merchant', request: within(10_000) })).toMatchObject({
      status: 'cancelled',
    });
  } finally {
    await db.destroy();
  }
});

test('rules 11.2: a cancel, or an end of a link, that its workflow has refused stays refused for its key', async () => {
  const db = connectDatabase(stack().postgres_url, { pool_max: 2 });
  const merchant = new Merchant();
  const { orders, payment_links } = createWorkflowClients({ client: clientOf(stack().temporal_address), db });
  try {
    const [order, link] = [await merchant.createOrder(), await merchant.createPaymentLink()];
    const [project] = (await db('projects').where({ id: order.project_id })) as { id_namespace: string }[];
    const refused = aRequest({ versions: [99] });
    for (const [what, path, refuse] of [
      [
        'cancel',
        `/v1/orders/${order.id}/`,
        (id: string) => orders.cancel(order.id, { source: 'merchant', request: refused }, id),
      ],
      ['end', `/v1/paymentlinks/${link.id}/`, (id: string) => payment_links.end(link.id, refused, id)],
    ] as const) {
      const idempotency_key = newIdempotencyKey();
      const asked = requestedId(what, { idempotency_key, id_namespace: project!.id_namespace });
      // The process that got this refusal dies before it keeps it with the key.
      await expect(refuse(asked)).rejects.toMatchObject({ error: 'PreconditionFailed' });
      const statusWith = async (key: string) =>
        (await merchant.send('DELETE', path, { headers: { 'idempotency-key': key } })).status;
      expect([what, await statusWith(idempotency_key), await statusWith(newIdempotencyKey())]).toEqual([
        what,
        412,
        200,
      ]);
    }
  } finally {
    await db.destroy();
  }
});

test('rules 10.19: an end of a link whose record was lost is carried out again by its key', async () => {
  const db = connectDatabase(stack().postgres_url, { pool_max: 2 });
  try {
    const { payment_links } = createWorkflowClients({ client: clientOf(stack().temporal_address), db });
    const { id } = await new Merchant().createPaymentLink();
    const row = () => db('payment_links').where({ id });
    const before = await row().first<Record<string, unknown>>(['status', 'version', 'modified', 'ended_by']);
    const asked = randomUUID();
    const end = (is_repeat: boolean) => payment_links.end(id, aRequest({ is_repeat }), asked);
    expect(await end(false)).toMatchObject({ status: 'expired' });
    await row().update(before);
    expect(await end(true)).toMatchObject({ status: 'expired' });
  } finally {
    await db.destroy();
  }
});

test('rules 10.5: a creation in time that a worker gets together with one that came too late is done', async () => {
  const db = connectDatabase(stack().postgres_url, { pool_max: 2 });
  try {
    const orders = new OrderWorkflows({ client: clientOf(stack().temporal_address), db });
    const { id: project_id } = await new Merchant().getProject();
    const both = async () => {
      const order = anOrder({ project_id });
      const late = orders.create(creation(order, aLateRequest())).catch(() => undefined);
      const deadline_at = Date.now() + 20_000;
      const in_time = { has_idempotency_key: false, begin_before: deadline_at - 2_000, deadline_at };
      const made = await orders.create(creation(order, aRequest(in_time)));
      await late;
      return made.status;
    };
    const statuses = await Promise.all(Array.from({ length: 10 }, both));
    expect(statuses).toEqual(Array(10).fill('new'));
  } finally {
    await db.destroy();
  }
});

test('rules 10.19: a creation whose record was lost is made again by its key when its workflow has ended', async () => {
  const db = connectDatabase(stack().postgres_url, { pool_max: 2 });
  const client = clientOf(stack().temporal_address);
  try {
    const orders = new OrderWorkflows({ client, db });
    const order = anOrder({ project_id: (await new Merchant().getProject()).id });
    const create = () => orders.create(creation(order, within(10_000)));
    expect(await create()).toMatchObject({ id: order.id, version: 0 });
    await client.workflow.getHandle(orderWorkflowId(order.id)).terminate('as a final one');
    await db('orders').where({ id: order.id }).delete();
    const again = await until('it is made again', () => create().catch(() => false as const));
    expect(again).toMatchObject({ id: order.id, status: 'new' });
    await orders.cancel(order.id, { source: 'merchant', request: within(10_000) });
  } finally {
    await db.destroy();
  }
});
