import type { Browser } from 'playwright-core';
import { WALLETS, type Wallet } from '../../src/processor/wire';
import { createProcessor, type Processor } from '../../src/processor/client';
import { PAY, charges, walletButton } from '../api/page/hosted-page';
import { aVisitor, launchBrowser } from '../support/browser';
import { Merchant, type Refusal } from '../support/client';
import { createTestProject } from '../support/projects';
import { stack } from '../support/stack';

/**
 * Every wallet through both doors, in a test and in a live project: by token over REST, and pressed on the hosted page.
 */

let processor: Processor;
beforeAll(() => {
  processor = createProcessor({ url: stack().simulator_url, key: stack().processor_key, timeout_ms: 5_000 });
});
afterAll(() => processor.close());

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
    expect(await charges(order.id)).toMatchObject([{ operation: 'sale', result: 'approved', requests: 1 }]);
  });

  test.each(WALLETS)(
    '%s is refused where the project has it not active, or the token is of another project',
    async (wallet) => {
      const transaction = await walletTransaction(shopOf('test'), wallet);
      const refusal = async (merchant: Merchant) => {
        const { status, body } = await merchant.send<{ error: Refusal }>('POST', '/v1/orders/', {
          body: { currency: 'EUR', amount: 700, transactions: [transaction] },
        });
        return [status, body.error.type, body.error.property_path];
      };
      expect(await refusal((await createTestProject()).merchant)).toEqual([
        400,
        'ValidationError',
        'transactions.0.payment_method',
      ]);
      expect(await refusal((await createTestProject({ payment_methods: [wallet] })).merchant)).toEqual([
        400,
        'ValidationError',
        'transactions.0.payment_method_details.vault_token',
      ]);
    },
  );
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
      const { status, body } = await merchant.send<{ error?: Refusal }>('POST', '/v1/orders/', {
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

describe('on the hosted page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test.each(KINDS)('%s, %s: pressed, completed, charged once', async (wallet, kind) => {
    const merchant = shopOf(kind);
    const { id, order_url } = await merchant.createOrder();
    const { page, complaints } = await aVisitor(browser);
    await page.goto(order_url!);
    await page.click(walletButton(wallet));
    await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
    await page.context().close();
    expect(complaints).toEqual([]);
    expect(await merchant.getOrder(id)).toMatchObject({ status: 'completed', transactions: [expected(wallet)] });
    expect(await charges(id)).toMatchObject([{ operation: 'sale', result: 'approved', requests: 1 }]);
  });

  test.each(WALLETS)(
    '%s, announced without a token: its payment_url offers that wallet alone, and pays that transaction',
    async (wallet) => {
      const merchant = shopOf('test');
      const announced = await merchant.createOrder({ transactions: [{ payment_method: wallet }] });
      const [transaction] = announced.transactions ?? [];
      const { page } = await aVisitor(browser);
      await page.goto(transaction!.payment_url!);
      expect([await page.locator('form[data-pay]').count(), await page.locator(PAY).count()]).toEqual([1, 0]);
      await page.click(walletButton(wallet));
      await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
      await page.context().close();
      expect((await merchant.getOrder(announced.id)).transactions).toMatchObject([
        { id: transaction!.id, ...expected(wallet) },
      ]);
    },
  );

  test("a wallet's token can be charged again", async () => {
    const merchant = shopOf('test');
    const { id, order_url } = await merchant.createOrder();
    const { page } = await aVisitor(browser);
    await page.goto(order_url!);
    await page.click(walletButton('apple-pay'));
    await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
    await page.context().close();
    const vault_token = (await merchant.getOrder(id)).transactions?.[0]?.payment_method_details?.vault_token;
    const next = await merchant.createOrder({
      transactions: [{ payment_method: 'apple-pay', payment_method_details: { vault_token: vault_token! } }],
    });
    expect(next).toMatchObject({ status: 'completed', transactions: [expected('apple-pay')] });
  });
});
