import type { Client as Temporal } from '@temporalio/client';
import { rows } from '../../src/db/connection';
import { chargeKey } from '../../src/domain/transaction';
import type { Fault } from '../../src/simulator/faults';
import { orderWorkflowId, processorAnswered } from '../../workflows/messages';
import { CARD, Client } from '../api/page/hosted-page';
import { CARDS } from '../support/cards';
import { Merchant, story, type Answer } from '../support/client';
import { stack } from '../support/stack';
import { temporalOf } from '../support/temporal-client';
import { authorized, books, capturePart, etag, part, payment, refund, voidPart, withRecord, type OrderAnswer } from './following';

/**
 * News arrives while an update does the last thing that a workflow has to do. Temporal then refuses to end the workflow and drops
 * the update, whose work is done. Its sender is told what was done, once, and a merchant without an Idempotency-Key never pays twice.
 */
const shop = new Merchant();
let temporal: Temporal;
beforeAll(() => {
  temporal = temporalOf();
});
afterAll(() => temporal.connection.close());

/** Of the workflow's tasks, those that Temporal refused because of the news: WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND. */
async function refusedTasks(order_id: string): Promise<number> {
  const { events } = await temporal.workflow.getHandle(orderWorkflowId(order_id)).fetchHistory();
  return (events ?? []).filter(({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes?.cause === UNHANDLED_COMMAND).length;
}
const UNHANDLED_COMMAND = 1;

/** The answer to what is sent while the processor is slow, and news reaches the order that `find` selects. */
async function amidNews<Body>(slow: Omit<Fault, 'kind'>, send: () => Promise<Answer<Body>>, find: { sql: string; value: string }) {
  const trouble = await shop.trouble({ ...slow, kind: 'latency', milliseconds: 1_500, times: 1 });
  const sent = send();
  await trouble.hit;
  const [{ id } = { id: '' }] = await withRecord((db) => rows<{ id: string }>(db, find.sql, { value: find.value }));
  await temporal.workflow.getHandle(orderWorkflowId(id)).signal(processorAnswered);
  const { status, body } = await sent;
  expect(await refusedTasks(id)).toBe(1);
  return { id, status, body };
}

test('an order that is paid as it is created', async () => {
  const transaction = await shop.cardTransaction('approved');
  const { vault_token } = transaction.payment_method_details;
  const request = { currency: 'EUR', amount: 700, description: vault_token, transactions: [transaction] };
  const { id, status, body } = await amidNews(
    { operation: 'sale', vault_token },
    () => shop.send<{ id: string; status: string }>('POST', '/v1/orders/', { body: request }),
    { sql: 'select id from orders where description = :value', value: vault_token },
  );
  expect([status, body.id, story(body)]).toEqual([200, id, 'completed: accepted']);
  expect(await books(shop, body)).toEqual(['sale approved 700']);
});

test('a payment on the hosted page', async () => {
  const order = await shop.createOrder({ amount: 800, transactions: [{ payment_method: 'credit-card' }] });
  const customer = new Client(stack().api_url);
  const form = { ...CARD, number: CARDS.approved.number, ...(await customer.open(order)) };
  const paid = async () => {
    const { status, headers } = await customer.post(`/pay/${order.id}/`, form);
    return { status, headers, body: undefined };
  };
  const { status } = await amidNews({ operation: 'sale', order_id: order.id }, paid, { sql: 'select id from orders where id = :value', value: order.id });
  expect([status, story(await shop.getOrder(order.id))]).toEqual([200, 'completed: accepted']);
  expect(await books(shop, order)).toEqual(['sale approved 800']);
});

test('an order that is cancelled, at the version that its sender knew', async () => {
  const order = await shop.createOrder({ transactions: [{ payment_method: 'credit-card' }] });
  const { status, body } = await amidNews(
    { operation: 'ask', idempotency_key: chargeKey(payment(order)) },
    async () => shop.send<{ status: string }>('DELETE', `/v1/orders/${order.id}/`, { headers: { 'if-match': await etag(shop, order) } }),
    { sql: 'select id from orders where id = :value', value: order.id },
  );
  expect([status, story(body)]).toEqual([200, 'cancelled: cancelled']);
});

const FOLLOWING: ['capture' | 'void' | 'refund', (order: { id: string }) => Promise<OrderAnswer>][] = [
  ['capture', (order) => capturePart(shop, order, part(300))],
  ['void', (order) => voidPart(shop, order, part(300))],
  ['refund', (order) => refund(shop, order, { amount: 300 })],
];
test.each(FOLLOWING)('a %s of a part', async (operation, follow) => {
  const order = operation === 'refund' ? await shop.paidOrder('approved') : await authorized(shop);
  const [before] = await books(shop, order);
  const { id, status, body } = await amidNews({ operation, order_id: order.id }, () => follow(order), {
    sql: 'select id from orders where related_order_id = :value',
    value: order.id,
  });
  expect([status, body.id, body.status]).toEqual([200, id, 'completed']);
  expect(await books(shop, order)).toEqual([before, `${operation} approved 300`]);
});
