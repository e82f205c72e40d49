import { WorkflowNotFoundError } from '@temporalio/client';
import type { Order } from '../../src/contract/order';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import type { Fault } from '../../src/simulator/faults';
import { orderWorkflowId, processorAnswered } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { CARDS } from '../support/domain';
import { ledgerOf } from '../support/ledger';
import { hasUnknownOutcome, Merchant, statusesOf, type RestAnswer } from '../support/merchant';
import {
  capturePart,
  createAuthorization,
  etagOfOrder,
  part,
  payingTransactionId,
  refund,
  voidPart,
  type OrderAnswer,
} from '../support/merchant-payments';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { failedTasksIn, temporalOf } from '../support/temporal-client';

/**
 * News arrives while an update does the last thing that a workflow has to do. Temporal then refuses to end the workflow
 * and drops the update, whose work is done. Its sender is told what was done, once, and a merchant without an
 * Idempotency-Key never pays twice.
 */
const merchant = new Merchant();
const temporal = setUp(temporalOf, (client) => client.connection.close());

/** Of the workflow's tasks, those that Temporal refused because of the news. */
async function refusedTasks(order_id: string): Promise<number> {
  const history = await temporal.workflow.getHandle(orderWorkflowId(order_id)).fetchHistory();
  return failedTasksIn(history).refused.length;
}

interface Subject<Body> {
  /** What is slow at the processor. */
  slow: Omit<Fault, 'kind'>;
  send: () => Promise<RestAnswer<Body>>;
  /** Selects the order that the news reach. */
  find: { sql: string; value: string };
}

/**
 * The answer to what is sent while the processor is slow, and news reach the order. They must come while it is: where a
 * busy machine tells them too late, or gives up on the processor, another subject is taken.
 */
async function amidNews<Made extends object, Body extends Parameters<typeof hasUnknownOutcome>[0] | undefined>(
  create: () => Promise<Made & Subject<Body>>,
): Promise<{ subject: Made; id: string; status: number; body: Body }> {
  for (let tries = 1; tries <= 5; tries += 1) {
    const subject = await create();
    const { slow, send, find } = subject;
    const fault = await merchant.addFault({ ...slow, kind: 'latency', milliseconds: 2_000, times: 1 });
    const sent = send();
    await fault.hit;
    const [{ id } = { id: '' }] = await recordRows<{ id: string }>(find.sql, { value: find.value });
    await temporal.workflow
      .getHandle(orderWorkflowId(id))
      .signal(processorAnswered)
      .catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
    const { status, body } = await sent;
    const answered = body ?? (await merchant.getOrder(id));
    if ((await refusedTasks(id)) >= 1 && status !== 503 && !hasUnknownOutcome(answered)) {
      return { subject, id, status, body };
    }
  }
  throw new Error(
    'this machine does not tell news while the processor is slow, or none of them made Temporal refuse a task',
  );
}

// Most of their time is waiting for the processor: they wait together.
test.concurrent('an order that is paid as it is created', async () => {
  const { id, status, body } = await amidNews(async () => {
    const transaction = await merchant.cardTransaction('approved');
    const { vault_token } = transaction.payment_method_details;
    const request = { currency: 'EUR', amount: 700, description: vault_token, transactions: [transaction] };
    return {
      slow: { operation: 'sale', vault_token },
      send: () => merchant.send<Order>('POST', '/v1/orders/', { body: request }),
      find: { sql: 'select id from orders where description = :value', value: vault_token },
    };
  });
  expect([status, body.id, statusesOf(body)]).toEqual([200, id, 'completed: accepted']);
  expect(await ledgerOf(merchant, body)).toEqual(['sale approved 700']);
});

test.concurrent('a payment on the hosted page', async () => {
  const { id, status } = await amidNews(async () => {
    const order = await merchant.createOrder({ amount: 800, transactions: [{ payment_method: 'credit-card' }] });
    const customer = new Client(stack().api_url);
    const form = { ...CARD, number: CARDS.approved.number, ...(await customer.openPage(order)) };
    const send = async () => {
      const { status, headers } = await customer.postForm(`/pay/${order.id}/`, form);
      return { status, headers, body: undefined };
    };
    return {
      slow: { operation: 'sale', order_id: order.id },
      send,
      find: { sql: 'select id from orders where id = :value', value: order.id },
    };
  });
  expect([status, statusesOf(await merchant.getOrder(id))]).toEqual([200, 'completed: accepted']);
  expect(await ledgerOf(merchant, { id })).toEqual(['sale approved 800']);
});

test.concurrent('an order that is cancelled, at the version that its sender knew', async () => {
  const { status, body } = await amidNews(async () => {
    // The customer is at the issuer, so the processor is asked first.
    const order = await merchant.createOrder({ transactions: [await merchant.cardTransaction('challenge')] });
    return {
      slow: { operation: 'ask', idempotency_key: chargeIdempotencyKey(payingTransactionId(order)) },
      send: async () =>
        merchant.send<Order>('DELETE', `/v1/orders/${order.id}/`, {
          headers: { 'if-match': await etagOfOrder(merchant, order) },
        }),
      find: { sql: 'select id from orders where id = :value', value: order.id },
    };
  });
  expect([status, statusesOf(body)]).toEqual([200, 'cancelled: cancelled']);
});

const FOLLOWING: ['capture' | 'void' | 'refund', (order: { id: string }) => Promise<OrderAnswer>][] = [
  ['capture', (order) => capturePart(merchant, order, part(300))],
  ['void', (order) => voidPart(merchant, order, part(300))],
  ['refund', (order) => refund(merchant, order, { amount: 300 })],
];
test.concurrent.each(FOLLOWING)('a %s of a part', async (operation, follow) => {
  const { subject, id, status, body } = await amidNews(async () => {
    const order = operation === 'refund' ? await merchant.paidOrder('approved') : await createAuthorization(merchant);
    return {
      order,
      before: await ledgerOf(merchant, order),
      slow: { operation, order_id: order.id },
      send: () => follow(order),
      find: { sql: 'select id from orders where related_order_id = :value', value: order.id },
    };
  });
  expect([status, body.id, body.status]).toEqual([200, id, 'completed']);
  expect(await ledgerOf(merchant, subject.order)).toEqual([...subject.before, `${operation} approved 300`]);
});
