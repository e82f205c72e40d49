import { cancelOrder, createOrder, getOrder } from '../../src/client';
import { errorSchema } from '../../src/contract/error';
import { CARDS } from '../support/domain';
import { answerOf, Merchant, type Answer, type Request } from '../support/merchant';
import { createTestProject } from '../support/operator';
import { NOBODY } from '../support/shapes';
import { stack } from '../support/stack';
import { connectDatabase } from '../../src/db/connection';

/** Rules 3.2: what is refused is not stored and not charged. */
const merchant = new Merchant();
const db = connectDatabase(stack().postgres_url, { pool_max: 2 });
/** The processor's own ledger, which know the project. */
const simulator = connectDatabase(stack().postgres_url.replace(/\/\w+$/, '/simulator'), { pool_max: 2 });
afterAll(() => Promise.all([db.destroy(), simulator.destroy()]));

/** The documented shape, and nothing beside it. */
function expectError({ status, headers, body }: Answer, expected: [status: number, type: string]) {
  const { error } = errorSchema.parse(body);
  expect([status, error.type]).toEqual(expected);
  expect(error.status).toBe(status);
  expect(error.value.length).toBeGreaterThan(0);
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  return error;
}

describe('a key that is not the right one', () => {
  test('rules 2.1 and 2.2: missing, wrong, of another kind: 401 with WWW-Authenticate', async () => {
    const { id } = await merchant.createOrder();
    const { test_api_key } = stack();
    const wrong = [
      `${test_api_key}0`,
      test_api_key.slice(0, -1) + (test_api_key.endsWith('0') ? '1' : '0'),
      test_api_key.replace('test', 'live'),
      test_api_key.toUpperCase(),
      'x',
    ];
    for (const key of wrong) {
      const answer = await answerOf(getOrder({ orderId: id }, new Merchant(stack(), key).project));
      expectError(answer, [401, 'Unauthorized']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
    }
  });

  test('a vault token is good in its project only', async () => {
    const { merchant: stranger } = await createTestProject();
    const transaction = await stranger.cardTransaction('approved');
    const error = expectError(
      await answerOf(
        createOrder({ orderRequest: { currency: 'EUR', amount: 1, transactions: [transaction] } }, merchant.project),
      ),
      [400, 'ValidationError'],
    );
    expect(error.property_path).toBe('transactions.0.payment_method_details.vault_token');
    expect(
      await simulator('operations').where({ vault_token: transaction.payment_method_details.vault_token }),
    ).toEqual([]);
  });

  test('rules 16.3: live orders carry no is-test, and test cards are worth nothing there', async () => {
    const order = await new Merchant(stack(), stack().live_api_key).paidOrder('approved');
    expect([order.flags, order.status]).toEqual([[], 'error']);
  });
});

test('rules 2.3: an id that does not exist: 404', async () => {
  for (const operation of [getOrder, cancelOrder]) {
    expectError(await answerOf(operation({ orderId: NOBODY }, merchant.project)), [404, 'NotFound']);
  }
});

describe('rules 3.2: a wrong request: nothing is stored, nothing is charged', () => {
  let stranger: Merchant;
  let project_id: string;
  let vault_token: string;
  beforeAll(async () => {
    ({ merchant: stranger, id: project_id } = await createTestProject({ currencies: ['EUR', 'JPY'] }));
    vault_token = await stranger.vaultToken(CARDS.approved.number);
  });

  /** A good order that would be charged at once, but for what `over` makes of it. */
  const order = (over: Record<string, unknown>): Request => ({
    body: {
      currency: 'EUR',
      amount: 100,
      transactions: [{ payment_method: 'credit-card', payment_method_details: { vault_token } }],
      ...over,
    },
  });
  const transaction = (over: Record<string, unknown>) =>
    order({ transactions: [{ payment_method: 'credit-card', payment_method_details: { vault_token }, ...over }] });
  const validation: [number, string] = [400, 'ValidationError'];

  test.each<[title: string, request: () => Request, expected: [number, string], property_path: string | undefined]>([
    ['no amount', () => order({ amount: undefined }), validation, 'amount'],
    ['a currency the project does not support', () => order({ currency: 'USD' }), validation, 'currency'],
    [
      'a method that does not exist',
      () => transaction({ payment_method: 'bank-robbery' }),
      validation,
      'transactions.0.payment_method',
    ],
    [
      'a method that is not active',
      () => transaction({ payment_method: 'apple-pay' }),
      validation,
      'transactions.0.payment_method',
    ],
    [
      'methods of the page that are not active',
      () => order({ payment_methods: ['credit-card', 'ideal'] }),
      validation,
      'payment_methods.1',
    ],
    [
      'an unknown token',
      () => transaction({ payment_method_details: { vault_token: 'nobody' } }),
      validation,
      'transactions.0.payment_method_details.vault_token',
    ],
    [
      'a card number in a field',
      () => order({ description: `paid with ${CARDS.approved.number}`, merchant_order_id: CARDS.approved.number }),
      validation,
      'description',
    ],
    [
      'a receiver account without account funding',
      () => transaction({ payment_method_details: { vault_token, receiver_account_number: 'NL00' } }),
      [403, 'Forbidden'],
      undefined,
    ],
    [
      'a form',
      () => ({ body: 'currency=EUR&amount=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      [415, 'UnsupportedMediaType'],
      undefined,
    ],
    ['more than 256 KiB', () => order({ unknown: 'x'.repeat(262_144) }), [413, 'PayloadTooLarge'], undefined],
    [
      'a key of idempotency that is too long',
      () => ({ ...order({}), headers: { 'idempotency-key': 'k'.repeat(256) } }),
      validation,
      'Idempotency-Key',
    ],
  ])('%s', async (_title, request, expected, property_path) => {
    const error = expectError(await stranger.send('POST', '/v1/orders/', request()), expected);
    expect(error.property_path).toBe(property_path);
    expect(JSON.stringify(error)).not.toMatch(/4111[\d ]{8}/);
  });

  test('rules 3.2: the record and the ledger are as empty as before', async () => {
    expect(await db('orders').where({ project_id })).toEqual([]);
    expect(await simulator('operations').where({ project_id })).toEqual([]);
    // And the same request, in order, is charged.
    const paid = await stranger.send<{ status: string }>('POST', '/v1/orders/', order({}));
    expect([paid.status, paid.body.status]).toEqual([200, 'completed']);
    expect(await simulator('operations').where({ project_id })).toHaveLength(1);
  });
});
