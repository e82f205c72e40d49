import type { Order } from '../../src/contract/order';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { followUpIdempotencyKey } from '../../src/domain/follow-up';
import { reversalOrderId } from '../../src/ids';
import { transactionId } from '../../src/ids';
import { ATTENTION, orderWorkflowId, setOutcomeUpdate } from '../../workflows/messages';
import { recordRows } from '../support/database';
import { entriesOf } from '../support/ledger';
import { Merchant, statusesOf } from '../support/merchant';
import {
  controlSimulator,
  createAuthorization,
  getWholeOrder,
  part,
  payingTransactionId,
  refund,
  untilFollowUp,
  untilOrder,
  voidPart,
} from '../support/merchant-payments';
import { setUp } from '../support/set-up';
import { temporalOf } from '../support/temporal-client';
import { until } from '../support/waits';

/** The processor says something else than the record, or nothing yet: nothing is guessed and nothing is forgotten. */
const merchant = new Merchant();
const temporal = setUp(temporalOf, (client) => client.connection.close());
afterEach(() => merchant.removeFaults());

/** What the Web UI shows an operator of an order. */
async function attentionOf(order_id: string): Promise<string | undefined> {
  const { typedSearchAttributes } = await temporal.workflow.getHandle(orderWorkflowId(order_id)).describe();
  return typedSearchAttributes.get(ATTENTION) ?? undefined;
}
const untilAttention = (order_id: string, words: RegExp) =>
  until(`${order_id} needs attention`, async () => words.test((await attentionOf(order_id).catch(() => '')) ?? ''));
/** The processor tells again how an operation stands. */
const notify = (idempotency_key: string) => controlSimulator(merchant, 'notifications', { idempotency_key });
const setOutcome = (order_id: string, outcome: 'approved' | 'declined') =>
  temporal.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(setOutcomeUpdate, {
    args: [{ transaction_id: transactionId(order_id, 1), outcome, reason: 'Bank statement', operator: 'Ada' }],
  });
const attentionInRecord = (order_id: string, words: RegExp) =>
  until('it is in the record', async () => {
    const sql = 'select attention from orders where id = :order_id';
    return words.test((await recordRows<{ attention: string | null }>(sql, { order_id }))[0]?.attention ?? '');
  });

const OTHER_AMOUNT = { amount: 40, currency: 'USD' };
const BOTH_AMOUNTS = /40 USD .*instead of 10000 EUR/;

describe('rules 10.17: an answer about another amount or currency is no approval', () => {
  test('a charge whose answer was lost: processing, Attention with both amounts, ended by the operator', async () => {
    const transaction = await merchant.cardTransaction('lost_answer');
    const { vault_token } = transaction.payment_method_details;
    await merchant.addFault({ kind: 'altered', operation: 'ask', vault_token, answer: OTHER_AMOUNT });
    const order = await merchant.createOrder({ amount: 10_000, transactions: [transaction] });
    await untilAttention(order.id, BOTH_AMOUNTS);
    expect(statusesOf(await merchant.getOrder(order.id))).toBe('processing: processing');
    await setOutcome(order.id, 'approved');
    const paid = await getWholeOrder(merchant, order);
    expect([statusesOf(paid), paid.amount_details!.captured]).toEqual(['completed: accepted', 10_000]);
    expect(paid.transactions![0]!.outcomes?.processing?.response_code).toBe('00');
    await until('it needs no more attention', async () => (await attentionOf(order.id)) === undefined);
  });

  test.each<['refund' | 'void', (order: Order) => Promise<{ body: Order }>]>([
    ['refund', (order) => refund(merchant, order, { amount: 4_000 })],
    ['void', (order) => voidPart(merchant, order, part(4_000))],
  ])('a %s: processing, its amount stays set aside', async (kind, request) => {
    const order: Order =
      kind === 'refund'
        ? ((await merchant.paidOrder('approved', { amount: 10_000 })) as Order)
        : await createAuthorization(merchant, { amount: 10_000 });
    for (const operation of [kind, 'ask'] as const) {
      await merchant.addFault({ kind: 'altered', operation, order_id: order.id, answer: { amount: 400 } });
    }
    const { body } = await request(order);
    expect(body.status).toBe('processing');
    await untilAttention(body.id, /400 EUR .*instead of 4000 EUR/);
    const { amount_details } = await getWholeOrder(merchant, order);
    expect([amount_details!.refunded, amount_details!.voided]).toEqual([0, 0]);
    expect(kind === 'refund' ? amount_details!.refundable : amount_details!.voidable).toBe(6_000);
    await setOutcome(body.id, 'approved');
    expect((await merchant.getOrder(body.id)).status).toBe('completed');
  });

  test('a refund answered with a 3-D Secure challenge: its outcome is unknown, and polled', async () => {
    const order = await merchant.paidOrder('approved', { amount: 10_000 });
    const challenge = { kind: 'altered', order_id: order.id, answer: { result: 'challenge' } } as const;
    await merchant.addFault({ ...challenge, operation: 'refund', times: 1 });
    await merchant.addFault({ ...challenge, operation: 'ask' });
    const { body } = await refund(merchant, order, { amount: 4_000 });
    expect(statusesOf(body)).toBe('processing: processing');
    for (const { id } of [order, body]) {
      expect((await merchant.send('GET', `/v1/orders/${id}/timeline/`)).status).toBe(200);
    }
    await merchant.removeFaults();
    await untilOrder(merchant, body, 'is completed', (one) => one.status === 'completed');
  });
});

describe('rules 10.18: a sign that money moved although the record says no', () => {
  test('a payment that was declined is approved: it is given back', async () => {
    const order = await merchant.paidOrder('do_not_honor', { amount: 10_000 });
    expect(statusesOf(order)).toBe('error: error');
    const transaction_id = payingTransactionId(order as Order);
    await merchant.addFault({
      kind: 'altered',
      operation: 'ask',
      transaction_id,
      answer: { result: 'approved', response_code: '00' },
    });
    await notify(chargeIdempotencyKey(transaction_id));
    const given_back = await untilOrder(merchant, order, 'is given back', (one) => one.reversal_orders !== undefined);
    expect(given_back.reversal_orders).toEqual([reversalOrderId(transaction_id)]);
    expect((await merchant.getOrder(given_back.reversal_orders![0]!)).amount).toBe(10_000);
    expect(statusesOf(given_back)).toBe('error: error');
  });

  test('a refund that was refused is approved: the operator has to look', async () => {
    const order = await merchant.paidOrder('refund_refused', { amount: 10_000 });
    const { body } = await refund(merchant, order, { amount: 4_000 });
    expect(body.status).toBe('error');
    const key = followUpIdempotencyKey(payingTransactionId(order as Order), 'refund', body.id);
    await merchant.addFault({
      kind: 'altered',
      operation: 'ask',
      idempotency_key: key,
      answer: { result: 'approved', response_code: '00' },
    });
    await notify(key);
    await untilAttention(body.id, /recorded as declined, but the processor says approved/);
    expect((await merchant.getOrder(body.id)).status).toBe('error');
  });
});

describe('rules 10.9: a chargeback', () => {
  const chargeBack = (order: Order, amount: number) =>
    controlSimulator(merchant, 'chargebacks', { transaction_id: payingTransactionId(order), amount });

  test('that the processor does not know yet when it is asked is recorded once it does', async () => {
    const order = (await merchant.paidOrder('approved', { amount: 10_000 })) as Order;
    await merchant.addFault({ kind: 'not_found', operation: 'ask', order_id: order.id, times: 2 });
    await chargeBack(order, 4_000);
    const charged_back = await untilFollowUp(merchant, order, 'is-chargeback');
    expect([charged_back.status, charged_back.amount]).toEqual(['completed', 4_000]);
  });

  test('in another currency is not recorded with its amount: the operator has to look', async () => {
    const order = (await merchant.paidOrder('approved', { amount: 10_000 })) as Order;
    await merchant.addFault({ kind: 'altered', operation: 'ask', order_id: order.id, answer: { currency: 'USD' } });
    await chargeBack(order, 4_000);
    await attentionInRecord(order.id, /chargeback of 4000 USD .*of a payment in EUR/);
    const after = await getWholeOrder(merchant, order);
    expect([after.chargeback_orders, after.amount_details!.refundable]).toEqual([undefined, 10_000]);
    // The processor corrects itself.
    await merchant.removeFaults();
    await notify((await entriesOf(merchant, order, 'chargeback'))[0]!.idempotency_key);
    expect((await untilFollowUp(merchant, order, 'is-chargeback')).amount).toBe(4_000);
  });
});
