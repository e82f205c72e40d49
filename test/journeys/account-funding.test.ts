import { orderSchema } from '../../src/contract/order';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { CUSTOMER, CARDS } from '../support/domain';
import { ledgerOf } from '../support/ledger';
import { Merchant, newIdempotencyKey, statusesOf } from '../support/merchant';
import {
  capture,
  expectNothingEmpty,
  getWholeOrder,
  outcomeInWords,
  part,
  refund,
  sendOperationUntilAnswered,
  voidPart,
  type OrderAnswer,
  type Sent,
} from '../support/merchant-payments';
import { createTestProject, type TestProject } from '../support/operator';
import { stack } from '../support/stack';

/** A card is charged to load money into another account (rules 14). */

/** A card of no table, and an account. */
const RECEIVING_CARD = '5105105105105100';
const RECEIVING_ACCOUNT = 'DE89370400440532013000';
const RECEIVER = { receiver_account_number: RECEIVING_CARD, receiver_account_number_type: 'card-account' };

let project: TestProject;
let merchant: Merchant;
beforeAll(async () => {
  project = await createTestProject({ account_funding: true, payment_methods: ['credit-card', 'apple-pay'] });
  ({ merchant } = project);
});

interface Over {
  customer?: Record<string, unknown> | undefined;
  details?: Record<string, unknown>;
  transaction?: Record<string, unknown>;
  order?: Record<string, unknown>;
}
async function fund(
  merchant: Merchant,
  { customer = CUSTOMER, details = RECEIVER, transaction = {}, order = {} }: Over = {},
  { headers }: Sent = {},
): Promise<OrderAnswer> {
  const body = {
    currency: 'EUR',
    amount: 900,
    customer,
    ...order,
    transactions: [{ payment_method: 'credit-card', ...transaction, payment_method_details: details }],
  };
  const answer: OrderAnswer = await sendOperationUntilAnswered(() =>
    merchant.send('POST', '/v1/orders/', { body, ...(headers && { headers }) }),
  );
  return answer;
}
/** Type and field of a refusal. */
const refusal = ({ status, body }: OrderAnswer) => [status, body.error.type, body.error.property_path];
const token = () => merchant.vaultToken(CARDS.approved.number);

describe('rules 14.1 and 14.2: the transaction', () => {
  test('is aft, shows first six and last four of the receiver, and goes on at the hosted page like any card payment', async () => {
    const { status, body } = await fund(merchant);
    const order = orderSchema.parse(body);
    expect([status, statusesOf(order), order.customer]).toEqual([200, 'new: new', CUSTOMER]);
    expect(order.transactions![0]).toMatchObject({
      transaction_type: 'aft',
      credit_debit: 'credit',
      payment_method_details: {
        receiver_account_number: '510510******5100',
        receiver_account_number_type: 'card-account',
      },
      payment_url: `${order.order_url}${order.transactions![0]!.id}/`,
    });
    expectNothingEmpty(order);
    const customer = new Client();
    await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
    const paid = orderSchema.parse(await getWholeOrder(merchant, order));
    expect(statusesOf(paid)).toBe('completed: accepted');
    // The card that paid stands beside the account it loads.
    expect(paid.transactions![0]).toMatchObject({
      transaction_type: 'aft',
      captured_amount: 900,
      payment_method_details: {
        truncated_pan: '411111******1111',
        receiver_account_number: '510510******5100',
        receiver_account_number_type: 'card-account',
      },
    });
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 900']);
  });

  test('rules 18.4: a character of the account number is a code point, also where it is masked', async () => {
    const details = { receiver_account_number: '😀', receiver_account_number_type: 'wallet' };
    const { status, body } = await fund(merchant, { details });
    const { transactions } = orderSchema.parse(body);
    expect([status, transactions![0]!.payment_method_details]).toEqual([
      200,
      { receiver_account_number: '*', receiver_account_number_type: 'wallet' },
    ]);
  });

  test('rules 6.4: after a decline a further attempt is for the same account', async () => {
    const { body: order } = await fund(merchant, {
      transaction: { capture_mode: 'manual', expiration_period: 'PT4H' },
    });
    const customer = new Client();
    await customer.postForm(`/pay/${order.id}/`, {
      ...CARD,
      number: CARDS.do_not_honor.number,
      ...(await customer.openPage(order)),
    });
    await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
    const paid = orderSchema.parse(await getWholeOrder(merchant, order));
    expect(statusesOf(paid)).toBe('completed: error accepted');
    for (const transaction of paid.transactions!) {
      expect(transaction).toMatchObject({
        transaction_type: 'aft',
        capture_mode: 'manual',
        expiration_period: 'PT4H',
        payment_method_details: {
          receiver_account_number: '510510******5100',
          receiver_account_number_type: 'card-account',
        },
      });
    }
    const accounts = 'select receiver_account_token from transactions where order_id = :id';
    const tokens = await recordRows<{ receiver_account_token: string }>(accounts, { id: order.id });
    expect(new Set(tokens.map(({ receiver_account_token }) => receiver_account_token)).size).toBe(1);
  });
});

describe('rules 14.5: capture_mode may be set; then the standard capture and void apply', () => {
  test('manual: captured in part, voided, refunded; its follow-up orders are of the card, without the receiver', async () => {
    const { body: order } = await fund(merchant, {
      details: {
        receiver_account_number: RECEIVING_ACCOUNT,
        receiver_account_number_type: 'iban',
        vault_token: await token(),
      },
      transaction: { capture_mode: 'manual' },
    });
    expect(order.transactions![0]).toMatchObject({
      transaction_type: 'aft',
      capture_mode: 'manual',
      is_capturable: true,
      status: 'accepted',
    });
    const voided = await voidPart(merchant, order, part(100));
    const captured = await capture(merchant, order);
    const refunded = await refund(merchant, order, { amount: 800 });
    expect([voided, captured, refunded].map(outcomeInWords)).toEqual(Array(3).fill([200, 'completed']));
    for (const { body } of [voided, captured, refunded]) {
      expect(JSON.stringify(body)).not.toContain('receiver');
    }
    expect(captured.body.transactions![0]!.transaction_type).toBe('capture');
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 900',
      'void approved 100',
      'capture approved 800',
      'refund approved 800',
    ]);
  });
});

test('rules 11.4: another short account with the same Idempotency-Key is refused, a repeat with the same account is not', async () => {
  const headers = { 'idempotency-key': newIdempotencyKey() };
  const fundAccount = (receiver_account_number: string) =>
    fund(merchant, { details: { receiver_account_number, receiver_account_number_type: 'bank-account' } }, { headers });
  const first = await fundAccount('0417164300');
  expect(first.status).toBe(200);
  expect(refusal(await fundAccount('0417164301'))).toEqual([422, 'IdempotencyKeyReused', undefined]);
  expect((await fundAccount('0417164300')).body).toEqual(first.body);
});

describe('missing or wrong fields: nothing is stored', () => {
  test('by a wallet: it is paid by card', async () => {
    expect(refusal(await fund(merchant, { transaction: { payment_method: 'apple-pay' } }))).toEqual([
      400,
      'ValidationError',
      'transactions.0.payment_method',
    ]);
  });

  test('rules 14.3: a project that is not enabled is refused with Forbidden, whatever else is missing', async () => {
    const { merchant: stranger } = await createTestProject();
    for (const other of [stranger, new Merchant(stack(), stack().live_api_key)]) {
      for (const over of [{}, { customer: {} }, { details: { receiver_account_number: RECEIVING_CARD } }]) {
        expect(refusal(await fund(other, over))).toEqual([403, 'Forbidden', undefined]);
      }
    }
    expect((await stranger.send('GET', '/v1/orders/')).body).toEqual([]);
    // The demo's test project is enabled.
    expect((await fund(new Merchant())).status).toBe(200);
  });
});
