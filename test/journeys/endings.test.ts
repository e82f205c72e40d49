import { setTimeout as sleep } from 'node:timers/promises';
import { cancelOrder } from '../../src/client';
import { orderSchema } from '../../src/contract/order';
import { CARD, Client } from '../support/customer';
import { answerOf, Merchant, statusesOf, type Refusal } from '../support/merchant';
import { until } from '../support/waits';

/** Orders that nobody pays. */
const merchant = new Merchant();
const cancel = (id: string) => answerOf<{ error: Refusal }>(cancelOrder({ orderId: id }, merchant.project));
const refusalOf = ({ status, body }: Awaited<ReturnType<typeof cancel>>) => [status, body.error.type];

describe('rules 4.9 and 7.6: expiry', () => {
  test('at its end an order expires by itself, with its open transaction, and cannot be paid or cancelled any more', async () => {
    const order = await merchant.createOrder({
      expiration_period: 'PT5S',
      transactions: [{ payment_method: 'credit-card' }],
    });
    const customer = new Client();
    const form = { ...CARD, ...(await customer.openPage(order)) };
    const expired = orderSchema.parse(await merchant.untilStatus(order.id, 'expired'));
    expect(statusesOf(expired)).toBe('expired: expired');
    const lived = Date.parse(expired.modified) - Date.parse(expired.created);
    expect(lived).toBeGreaterThanOrEqual(5_000);
    expect(lived).toBeLessThan(20_000);
    expect(expired.transactions![0]!.events!.at(-1)).toMatchObject({ event: 'expired', source: 'service' });
    expect(await (await customer.postForm(`/pay/${order.id}/`, form)).text()).toContain('expired');
    expect(refusalOf(await cancel(order.id))).toEqual([409, 'CanNotCancelTransaction']);
    expect(await merchant.getOrder(order.id)).toEqual(expired);
    expect(await merchant.ledger(order.id)).toEqual([]);
  });

  test('rules 4.9: waits for a charge that began before the end: approved after it, the order is completed', async () => {
    const transaction = await merchant.cardTransaction('approved');
    const { vault_token } = transaction.payment_method_details;
    // The answer is lost, and nobody tells it before the order's time is over.
    await merchant.addFault({ operation: 'sale', vault_token, kind: 'lost_answer', times: 1 });
    await merchant.addFault({ operation: 'ask', vault_token, kind: 'outage' });
    const order = await merchant.createOrder({ expiration_period: 'PT5S', transactions: [transaction] });
    const key = `${order.transactions![0]!.id}:charge`;
    expect(statusesOf(order)).toBe('processing: processing');
    await sleep(Date.parse(order.created) + 5_500 - Date.now());
    expect(statusesOf(await merchant.getOrder(order.id))).toBe('processing: processing');
    await merchant.removeFaults();
    const paid = await until(
      'completed',
      async () => {
        const now = await merchant.getOrder(order.id);
        return now.status !== 'processing' && now;
      },
      60_000,
    );
    expect(statusesOf(paid)).toBe('completed: accepted');
    expect(Date.parse(paid.completed!)).toBeGreaterThanOrEqual(Date.parse(order.created) + 5_000);
    expect(await merchant.ledger(order.id)).toEqual([expect.objectContaining({ idempotency_key: key, requests: 1 })]);
  }, 120_000);
});
