import { WALLETS, type Wallet } from '../../src/processor/wire';
import { Client } from '../support/customer';
import { readLedger } from '../support/ledger';
import { Merchant, type RefusalName } from '../support/merchant';
import { setUp } from '../support/set-up';
import { runProcessor } from '../support/processor';
import { stack } from '../support/stack';

/**
 * Every wallet through both doors, in a test and in a live project: by token over REST, and pressed on the hosted page.
 */

const processor = setUp(() => runProcessor());

const BRANDS: Record<Wallet, string> = { 'apple-pay': 'visa', 'google-pay': 'mastercard' };
const KINDS = WALLETS.flatMap((wallet) => (['test', 'live'] as const).map((kind) => [wallet, kind] as const));

const shopOf = (kind: 'test' | 'live') => new Merchant(stack(), stack()[`${kind}_api_key`]);

/** A transaction as a merchant sends it whose customer has agreed in their wallet before. */
async function walletTransaction(merchant: Merchant, payment_method: Wallet) {
  const { body: project } = await merchant.send<{ id: string; is_test: boolean }>(
    'GET',
    '/v1/merchants/self/projects/self/',
  );
  const { vault_token } = await processor.vaultWallet({
    project_id: project.id,
    is_test: project.is_test,
    payment_method,
  });
  return { payment_method, payment_method_details: { vault_token } };
}

const expected = (payment_method: Wallet) => ({
  status: 'accepted',
  payment_method,
  payment_method_brand: BRANDS[payment_method],
  outcomes: { processing: { response_code: '00' } },
});

describe('by token over REST', () => {
  test.each(KINDS)('%s, %s: completed by its only attempt, charged once', async (wallet, kind) => {
    const merchant = shopOf(kind);
    const order = await merchant.createOrder({ transactions: [await walletTransaction(merchant, wallet)] });
    expect(order).toMatchObject({ status: 'completed', transactions: [expected(wallet)] });
    expect(await merchant.getOrder(order.id)).toMatchObject({ transactions: [expected(wallet)] });
    expect(await readLedger(order.id)).toMatchObject([{ operation: 'sale', result: 'approved', requests: 1 }]);
  });
});

test('rules 6.6: a token pays by the method it was made by, and by no other', async () => {
  const merchant = shopOf('test');
  const tokens = {
    'credit-card': (await merchant.cardTransaction('approved')).payment_method_details,
    'apple-pay': (await walletTransaction(merchant, 'apple-pay')).payment_method_details,
    'google-pay': (await walletTransaction(merchant, 'google-pay')).payment_method_details,
  };
  for (const [made_by, payment_method_details] of Object.entries(tokens)) {
    for (const payment_method of Object.keys(tokens)) {
      const { status, body } = await merchant.send<{ error?: RefusalName }>('POST', '/v1/orders/', {
        body: { currency: 'EUR', amount: 700, transactions: [{ payment_method, payment_method_details }] },
      });
      expect([made_by, payment_method, status, body.error?.value]).toEqual([
        made_by,
        payment_method,
        ...(made_by === payment_method
          ? [200, undefined]
          : [400, `transactions.0.payment_method_details.vault_token: This token pays by ${made_by} only.`]),
      ]);
    }
  }
});

describe('on the hosted page, with which browsers pay in test/api/page/browser.test.ts', () => {
  /** Presses the button on the order's page. */
  async function press(payment_method: Wallet, order: { id: string }): Promise<string> {
    const customer = new Client();
    const form = { ...(await customer.openPage(order)), payment_method };
    return await (await customer.postForm(`/pay/${order.id}/wallet/`, form)).text();
  }

  test.each(KINDS)('rules 12.7: %s, %s: pressed, completed, charged once', async (wallet, kind) => {
    const merchant = shopOf(kind);
    const order = await merchant.createOrder();
    expect(await press(wallet, order)).toContain('Payment completed');
    expect(await merchant.getOrder(order.id)).toMatchObject({ status: 'completed', transactions: [expected(wallet)] });
    expect(await readLedger(order.id)).toMatchObject([{ operation: 'sale', result: 'approved', requests: 1 }]);
  });

  test.each(WALLETS)(
    'rules 6.1: %s, announced without a token: its payment_url offers that wallet alone, and pays that transaction',
    async (wallet) => {
      const merchant = shopOf('test');
      const announced = await merchant.createOrder({ transactions: [{ payment_method: wallet }] });
      const [transaction] = announced.transactions ?? [];
      const html = await (await new Client().send(transaction!.payment_url!)).text();
      expect([html.match(/<form [^>]*data-pay/g)!.length, html.includes('cc-number')]).toEqual([1, false]);
      expect(await press(wallet, announced)).toContain('Payment completed');
      expect((await merchant.getOrder(announced.id)).transactions).toMatchObject([
        { id: transaction!.id, ...expected(wallet) },
      ]);
    },
  );
});
