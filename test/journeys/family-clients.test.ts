import type { Order } from '../../src/contract/order';
import { createAuthorization, payingTransactionId } from '../support/merchant-payments';
import { createTestProject, type TestProject } from '../support/operator';
import { setUp } from '../support/set-up';
import { NOBODY, TIMESTAMP, UUID } from '../support/shapes';

/**
 * The calls of published shop plugins and SDKs of this API family, as their sources make them, and the fields that they
 * read of the answers. None of their code is here: a row is a request and what is read of its answer.
 */

/** The object that a call is about, made before it. */
type On = 'nothing' | 'an order' | 'a payment' | 'an authorization' | 'a declined payment' | 'a captured payment';

interface Call {
  on: On;
  /** Method and path; `{order}` and `{transaction}` are those of the object. */
  call: string;
  /** As JSON; a text is sent as it stands. */
  body?: object | string;
  headers?: Record<string, string>;
  /** 200 unless it is given. */
  status?: number;
  /** What the client reads. */
  reads: object;
}

const URL_TEXT = expect.stringMatching(/^https?:\/\//) as string;
const TEXT = expect.any(String) as string;
const WHOLE = expect.any(Number) as number;

const TRANSACTION = { id: UUID, amount: WHOLE, currency: 'EUR', status: TEXT, created: TIMESTAMP, modified: TIMESTAMP };
const ORDER = { id: UUID, amount: WHOLE, currency: 'EUR', status: TEXT, created: TIMESTAMP, modified: TIMESTAMP };
/** What is read of a refused request. */
const refusal = (status: number) => ({ error: { type: TEXT, status, value: TEXT } });

const AMOUNT = 1_250;
const LINES = [
  {
    type: 'physical',
    name: 'A map',
    quantity: 1,
    amount: 1_000,
    currency: 'EUR',
    vat_percentage: 2_100,
    merchant_order_line_id: '17',
  },
  {
    type: 'shipping_fee',
    name: 'Shipping',
    quantity: 1,
    amount: 250,
    currency: 'EUR',
    vat_percentage: 0,
    merchant_order_line_id: 'shipping',
  },
];
const SHOP = 'https://shop.example';
const SHOP_ORDER = {
  currency: 'EUR',
  amount: AMOUNT,
  merchant_order_id: '1001',
  description: 'Order 1001',
  return_url: `${SHOP}/return?cart=7`,
  webhook_url: `${SHOP}/webhook`,
};
const CARD = { payment_method: 'credit-card', capture_mode: 'manual', expiration_period: 'PT5M' };

const capture = (body?: string, headers?: Record<string, string>): Call => ({
  on: 'an authorization',
  call: 'POST /v1/orders/{order}/transactions/{transaction}/captures/',
  reads: TRANSACTION,
  ...(body !== undefined && { body }),
  ...(headers !== undefined && { headers }),
});
const voidPart = (path = 'voids/amount/', description = 'Order cancelled'): Call => ({
  on: 'an authorization',
  call: `POST /v1/orders/{order}/transactions/{transaction}/${path}`,
  body: { amount: AMOUNT, description },
  reads: { ...TRANSACTION, amount: AMOUNT },
});

/** The four SDKs that have the same calls. */
const SDK: Record<string, Call> = {
  'creates an order for the hosted page': {
    on: 'nothing',
    call: 'POST /v1/orders/',
    body: {
      ...SHOP_ORDER,
      failure_url: `${SHOP}/failed`,
      locale: 'en-GB',
      payment_methods: ['credit-card'],
      expiration_period: 'PT30M',
    },
    reads: {
      ...ORDER,
      status: 'new',
      description: 'Order 1001',
      merchant_order_id: '1001',
      return_url: `${SHOP}/return?cart=7`,
      failure_url: `${SHOP}/failed`,
      order_url: URL_TEXT,
    },
  },
  'creates an order for one method': {
    on: 'nothing',
    call: 'POST /v1/orders/',
    body: { ...SHOP_ORDER, order_lines: LINES, customer: { first_name: 'Ada' }, transactions: [CARD] },
    reads: {
      ...ORDER,
      transactions: [
        { ...TRANSACTION, payment_method: 'credit-card', payment_url: URL_TEXT, expiration_period: 'PT5M' },
      ],
    },
  },
  'retrieves an order': {
    on: 'a payment',
    call: 'GET /v1/orders/{order}/',
    reads: { ...ORDER, status: 'completed', completed: TIMESTAMP, transactions: [TRANSACTION] },
  },
  refunds: {
    on: 'a payment',
    call: 'POST /v1/orders/{order}/refunds/',
    body: { amount: 100, description: 'One map returned' },
    reads: { id: UUID, amount: 100, status: TEXT },
  },
  captures: capture(),
  voids: voidPart(),
  'reads a refusal': {
    on: 'nothing',
    call: `GET /v1/orders/${NOBODY}/`,
    status: 404,
    reads: refusal(404),
  },
};

/** ginger-php, which WooCommerce, Magento and PrestaShop use: most paths have no slash at their end. */
const GINGER_PHP: Record<string, Call> = {
  'retrieves an order': {
    on: 'a payment',
    call: 'GET /v1/orders/{order}',
    reads: {
      id: UUID,
      status: 'completed',
      merchant_order_id: '1001',
      transactions: [{ id: UUID }],
      flags: ['is-test'],
    },
  },
  'reads the currencies': {
    on: 'nothing',
    call: 'GET /v1/merchants/self/projects/self/currencies',
    reads: { payment_methods: { 'credit-card': { currencies: expect.arrayContaining(['EUR']) } } },
  },
  captures: capture(),
  'reads a refusal': { on: 'nothing', call: `GET /v1/orders/${NOBODY}`, status: 404, reads: refusal(404) },
};

const WOOCOMMERCE_CUSTOMER = {
  address_type: 'customer',
  email_address: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lovelace',
  address: 'Keizersgracht 1 1015CJ Amsterdam',
  postal_code: '1015CJ',
  country: 'NL',
  phone_numbers: ['+31612345678'],
  user_agent: 'Mozilla/5.0',
  ip_address: '192.0.2.1',
  locale: 'nl_NL',
  additional_addresses: [
    { address_type: 'billing', address: 'Keizersgracht 1', country: 'NL', postal_code: '1015 CJ' },
  ],
};
const client = (platform_name: string) => ({
  user_agent: 'Mozilla/5.0',
  platform_name,
  platform_version: '9.0',
  plugin_name: 'plugin',
  plugin_version: '1.0.0',
});
/** What the plugins look at before they capture or void. */
const CAPTURABLE = {
  id: UUID,
  status: 'completed',
  flags: ['is-test'],
  transactions: [{ id: UUID, transaction_type: 'authorization', is_capturable: true }],
};

const TYPE_ALWAYS = { 'content-type': 'application/json' };

const CLIENTS: Record<string, Record<string, Call>> = {
  'SDK for PHP 1.0.0 (NoPayn/php-sdk d3558ad)': SDK,
  'SDK for Ruby 1.0.0 (NoPayn/ruby-sdk 08d70d0)': SDK,
  'SDK for Java and Kotlin 1.0.0 (NoPayn/Java-Kotlin 24255ac)': SDK,
  'SDK for C# (NoPayn/C_.NET-sdk 292fa97)': SDK,
  'SDK for PHP 2.3.1 (gingerpayments/ginger-php fc76062)': {
    ...GINGER_PHP,
    'creates an order': {
      on: 'nothing',
      call: 'POST /v1/orders',
      body: { ...SHOP_ORDER, transactions: [{ payment_method: 'credit-card' }] },
      reads: { id: UUID, order_url: URL_TEXT, transactions: [{ payment_url: URL_TEXT }] },
    },
    'changes an order': {
      on: 'an order',
      call: 'PUT /v1/orders/{order}',
      body: { currency: 'EUR', amount: AMOUNT, merchant_order_id: '1002' },
      reads: { id: UUID, merchant_order_id: '1002' },
    },
    refunds: {
      on: 'a payment',
      call: 'POST /v1/orders/{order}/refunds',
      body: { amount: 100, description: 'Returned' },
      reads: { id: UUID, status: 'completed' },
    },
  },
  'SDK for Python 2.1.4 (gingerpayments/ginger-python baf48db)': {
    'creates an order': { ...SDK['creates an order for the hosted page']! },
    'retrieves an order': { ...SDK['retrieves an order']! },
    'changes an order': {
      on: 'an order',
      call: 'PUT /v1/orders/{order}/',
      body: { description: 'Another' },
      reads: { id: UUID, description: 'Another' },
    },
    refunds: { ...SDK['refunds']! },
    captures: capture('', { 'content-length': '0' }),
    'reads a refusal': { ...SDK['reads a refusal']! },
    // Only cards and wallets are paid here, so there are no banks to choose from.
    'asks for the banks of iDEAL': { on: 'nothing', call: 'GET /v1/ideal/issuers/', status: 404, reads: refusal(404) },
  },
  'WooCommerce 1.0.20 (NoPayn/nopayn-woocommerce c0c34c1)': {
    ...GINGER_PHP,
    'creates an order': {
      on: 'nothing',
      call: 'POST /v1/orders',
      body: {
        ...SHOP_ORDER,
        customer: WOOCOMMERCE_CUSTOMER,
        client: client('WooCommerce'),
        order_lines: LINES.map((line) => ({ ...line, url: `${SHOP}/map`, image_url: `${SHOP}/map.jpg` })),
        expiration_period: 'PT5M',
        transactions: [CARD],
      },
      reads: { id: UUID, status: 'new', order_url: URL_TEXT, transactions: [{ id: UUID, payment_url: URL_TEXT }] },
    },
    'creates an order of a customer without a telephone': {
      on: 'nothing',
      call: 'POST /v1/orders',
      body: { ...SHOP_ORDER, customer: { ...WOOCOMMERCE_CUSTOMER, phone_numbers: [''] }, transactions: [CARD] },
      reads: { id: UUID },
    },
    'looks before it captures': { on: 'an authorization', call: 'GET /v1/orders/{order}', reads: CAPTURABLE },
    'looks at a captured order': {
      on: 'a captured payment',
      call: 'GET /v1/orders/{order}',
      reads: { flags: expect.arrayContaining(['has-captures']) },
    },
    'reads a declined payment': {
      on: 'a declined payment',
      call: 'GET /v1/orders/{order}',
      reads: { status: 'error', merchant_order_id: '1001', transactions: [{ status: 'error' }] },
    },
    voids: voidPart('voids/amount', 'Void 1250 of the full 1250 on order 1001 '),
    refunds: {
      on: 'a captured payment',
      call: 'POST /v1/orders/{order}/refunds',
      body: { amount: 100, description: 'OrderID: #1001, Reason: ', order_lines: LINES },
      reads: { status: 'completed', transactions: [{ status: 'accepted' }] },
    },
  },
  'Magento 2 1.0.0 (NoPayn/nopayn-magento-2 49d43a9)': {
    ...GINGER_PHP,
    'creates an order': {
      on: 'nothing',
      call: 'POST /v1/orders',
      body: {
        ...SHOP_ORDER,
        customer: WOOCOMMERCE_CUSTOMER,
        client: client('Magento2'),
        order_lines: LINES,
        transactions: [CARD],
      },
      reads: { id: UUID, status: 'new', transactions: [{ id: UUID, payment_url: URL_TEXT }] },
    },
    'looks before it captures': { on: 'an authorization', call: 'GET /v1/orders/{order}', reads: CAPTURABLE },
    voids: voidPart('voids/amount/', 'Void for Magento shop'),
    refunds: {
      on: 'a payment',
      call: 'POST /v1/orders/{order}/refunds',
      body: { amount: 100, currency: 'EUR', order_lines: LINES },
      reads: { id: UUID, status: 'completed' },
    },
  },
  'PrestaShop 8 (NoPayn/nopayn-prestashop-8 d03acde)': {
    ...GINGER_PHP,
    'creates an order': {
      on: 'nothing',
      call: 'POST /v1/orders',
      body: {
        ...SHOP_ORDER,
        customer: {
          ...WOOCOMMERCE_CUSTOMER,
          gender: 'female',
          birthdate: '1985-12-10',
          merchant_customer_id: '12',
        },
        client: client('PrestaShop8'),
        order_lines: LINES,
        transactions: [{ payment_method: 'credit-card', capture_mode: 'manual' }],
      },
      reads: { id: UUID, status: 'new', transactions: [{ id: UUID, payment_method: TEXT, payment_url: URL_TEXT }] },
    },
    'writes the number of the order of the shop': {
      on: 'an order',
      call: 'PUT /v1/orders/{order}',
      body: { currency: 'EUR', amount: AMOUNT, customer: WOOCOMMERCE_CUSTOMER, id: NOBODY, merchant_order_id: '1003' },
      reads: { id: UUID, merchant_order_id: '1003' },
    },
    'looks before it captures': { on: 'an authorization', call: 'GET /v1/orders/{order}', reads: CAPTURABLE },
    voids: voidPart('voids/amount', 'Void 1250 of the full 1250 on order 1001 '),
    refunds: {
      on: 'a payment',
      call: 'POST /v1/orders/{order}/refunds',
      body: { amount: 100, description: 'Order refund', order_lines: LINES },
      reads: { id: UUID, status: 'completed' },
    },
  },
  'Shopware 1.1.1 (NoPayn/shopware 8b5bc42)': {
    'creates an order': {
      on: 'nothing',
      call: 'POST /v1/orders/',
      body: {
        ...SHOP_ORDER,
        failure_url: `${SHOP}/return?cart=7&nopayn_cancelled=1`,
        transactions: [{ payment_method: 'credit-card', capture_mode: 'manual' }],
        expiration_period: 'PT5M',
        locale: 'de-DE',
        order_lines: LINES,
      },
      reads: { id: UUID, transactions: [{ payment_url: URL_TEXT }], order_url: URL_TEXT },
    },
    'retrieves an order': {
      on: 'a payment',
      call: 'GET /v1/orders/{order}/',
      headers: TYPE_ALWAYS,
      reads: { status: 'completed', transactions: [{ id: UUID }] },
    },
    refunds: { ...SDK['refunds']! },
    // An empty PHP array is a JSON array.
    captures: capture('[]'),
    voids: voidPart(),
  },
  'OpenCart 3.1.0 (NoPayn/nopayn-opencart3 7179041)': {
    'creates an order': {
      on: 'nothing',
      call: 'POST /v1/orders/',
      body: {
        ...SHOP_ORDER,
        failure_url: `${SHOP}/return?status=failure`,
        transactions: [{ payment_method: 'credit-card', capture_mode: 'manual' }],
        expiration_period: 'PT30M',
        locale: 'nl-NL',
        order_lines: LINES,
      },
      reads: { id: UUID, transactions: [{ id: UUID, payment_url: URL_TEXT }] },
    },
    'retrieves an order': {
      on: 'a payment',
      call: 'GET /v1/orders/{order}/',
      headers: TYPE_ALWAYS,
      reads: { status: 'completed', transactions: [{ id: UUID, payment_method: 'credit-card' }] },
    },
    captures: capture('', TYPE_ALWAYS),
    voids: voidPart('voids/amount/', 'Order cancelled via webhook'),
    'reads a refusal': { ...SDK['reads a refusal']!, headers: TYPE_ALWAYS },
  },
  'nopCommerce 1.0.0 (NoPayn/nopcommerce 0a89789)': {
    'creates an order': {
      on: 'nothing',
      call: 'POST /v1/orders/',
      body: { ...SHOP_ORDER, failure_url: `${SHOP}/cancel`, transactions: [CARD], order_lines: LINES },
      reads: { id: UUID, transactions: [{ payment_url: URL_TEXT }], order_url: URL_TEXT },
    },
    'retrieves an order': { ...SDK['retrieves an order']! },
    refunds: {
      on: 'a payment',
      call: 'POST /v1/orders/{order}/refunds/',
      body: { amount: 100, description: '' },
      reads: { id: UUID, amount: 100, status: TEXT },
    },
    // An object that is absent is serialized too.
    captures: capture('null', { 'content-type': 'application/json; charset=utf-8' }),
    voids: voidPart(),
  },
};

const project = setUp<TestProject>(() => createTestProject());
const FIELDS = { amount: AMOUNT, merchant_order_id: '1001' };

const OBJECTS: Record<On, () => Promise<Pick<Order, 'id' | 'transactions'> | undefined>> = {
  nothing: () => Promise.resolve(undefined),
  'an order': () => project.merchant.createOrder(FIELDS) as Promise<Order>,
  'a payment': () => project.merchant.paidOrder('approved', FIELDS) as Promise<Order>,
  'a declined payment': () => project.merchant.paidOrder('stolen', FIELDS) as Promise<Order>,
  'an authorization': () => createAuthorization(project.merchant, FIELDS) as Promise<Order>,
  async 'a captured payment'() {
    const order = (await OBJECTS['an authorization']())!;
    const path = `/v1/orders/${order.id}/transactions/${payingTransactionId(order)}/captures/`;
    await project.merchant.send('POST', path);
    return order;
  },
};

/** Answers by call: clients that make the same call have one answer, of an object that no other call is about. */
const answered = new Map<string, ReturnType<typeof answerTo>>();

async function answerTo({ on, call, body, headers }: Call) {
  const order = await OBJECTS[on]();
  const [method = '', path = ''] = call.split(' ');
  return await project.merchant.send(
    method,
    path.replace('{order}', order?.id ?? '').replace('{transaction}', order?.transactions?.at(-1)?.id ?? ''),
    { ...(body !== undefined && body !== '' && { body }), ...(headers && { headers }) },
  );
}

async function sharedAnswer(made: Call) {
  const { on, call, body, headers } = made;
  const key = JSON.stringify({ on, call, body, headers });
  const answer = answered.get(key) ?? answerTo(made);
  answered.set(key, answer);
  return await answer;
}

test.each(Object.entries(CLIENTS))('%s', async (_client, calls) => {
  const answers = await Promise.all(
    Object.entries(calls).map(async ([does, call]) => {
      const answer = await sharedAnswer(call);
      return {
        does,
        given: { does, status: answer.status, read: answer.body },
        expected: { does, status: call.status ?? 200, read: call.reads },
      };
    }),
  );
  expect(answers.map(({ given }) => given)).toMatchObject(answers.map(({ expected }) => expected));
});
