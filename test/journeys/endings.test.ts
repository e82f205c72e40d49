import { cancelOrder } from '../../src/client';
import { orderSchema } from '../../src/contract/order';
import { CARD, Client } from '../support/customer';
import { answerOf, Merchant, statusesOf, type RefusalName } from '../support/merchant';

/** Orders that nobody pays. */
const merchant = new Merchant();
const cancel = (id: string) => answerOf<{ error: RefusalName }>(cancelOrder({ orderId: id }, merchant.project));
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
});
