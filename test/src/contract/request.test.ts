import fc from 'fast-check';
import { MERCHANT_API } from '../../../src/contract/merchant-api';
import { parseJson } from '../../../src/contract/json';
import { DEPTH_MAX, WRONG_FIELDS_MAX, parseIdempotencyKey, parseRequest } from '../../../src/contract/request';
import { FREE_FORM_BYTES_MAX, FREE_FORM_LIST_BYTES_MAX } from '../../../src/contract/scalars';
import { ServiceError } from '../../../src/errors';

const ORDER_ID = '1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34';
const ORDER = { currency: 'EUR', amount: 2500 };
const CARD = '4111111111111111';
/** Of an article; with the prefix, the length and the check digit of a Maestro card. */
const EAN = '5901664064924';

const { routes } = MERCHANT_API;
const parse = (body: unknown) => parseRequest(routes.createOrder, { params: {}, query: {}, body }).body;

function refusalOf(work: () => unknown): ServiceError {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('was not refused');
}
const refusal = (body: unknown) => refusalOf(() => parse(body));
const withTransaction = (transaction: object) => ({
  ...ORDER,
  transactions: [{ payment_method: 'credit-card', ...transaction }],
});
/** The path of a card's details. */
const DETAILS = 'transactions.0.payment_method_details';
const withDetails = (payment_method_details: object) => withTransaction({ payment_method_details });

describe('rules 1.6, 1.7 and 15.1: create an order', () => {
  test('a field of the receiver that is misspelt comes through: it makes the transaction account funding', () => {
    expect(parse(withDetails({ receiver_acount_number: '1' })).transactions![0]!.payment_method_details).toEqual({
      receiver_acount_number: '1',
    });
  });

  test('rules 1.6: unknown and read-only fields are ignored', () => {
    const transactions = [{ payment_method: 'credit-card', status: 'accepted', id: 7, amount: 'x' }];
    expect(
      parse({
        ...ORDER,
        id: 7,
        status: 'completed',
        flags: null,
        nonsense: {},
        customer: { nonsense: 1 },
        transactions,
      }),
    ).toEqual({
      ...ORDER,
      customer: {},
      transactions: [{ payment_method: 'credit-card' }],
    });
  });

  test.each<[string, unknown, string]>([
    ['no currency', { amount: 1 }, 'currency'],
    ['no amount', { currency: 'EUR' }, 'amount'],
    ['amount below 0', { ...ORDER, amount: -1 }, 'amount'],
    ['amount with a fraction', { ...ORDER, amount: 1.5 }, 'amount'],
    ['amount as text', { ...ORDER, amount: '100' }, 'amount'],
    ['rules 1.7: amount null', { ...ORDER, amount: null }, 'amount'],
    ['amount 2^53', { ...ORDER, amount: 2 ** 53 }, 'amount'],
    ['currency in small letters', { ...ORDER, currency: 'eur' }, 'currency'],
    ['description as number', { ...ORDER, description: 1 }, 'description'],
    ['description null', { ...ORDER, description: null }, 'description'],
    ['rules 18.4: description of 4097', { ...ORDER, description: 'x'.repeat(4097) }, 'description'],
    ['rules 18.4: reference of 256', { ...ORDER, merchant_order_id: 'x'.repeat(256) }, 'merchant_order_id'],
    ['rules 1.8: relative URL', { ...ORDER, return_url: '/thanks' }, 'return_url'],
    ['rules 1.8: URL of another scheme', { ...ORDER, return_url: 'javascript:alert(1)' }, 'return_url'],
    ['URL without host', { ...ORDER, return_url: 'https://' }, 'return_url'],
    ['URL with line break', { ...ORDER, webhook_url: 'https://example.com/\nX: y' }, 'webhook_url'],
    ['URL with space before', { ...ORDER, webhook_url: ' https://example.com/' }, 'webhook_url'],
    [
      'URL whose password is not percent-encoded',
      { ...ORDER, webhook_url: 'https://shop:50%off@example.com/' },
      'webhook_url',
    ],
    ['URL whose user name is cut', { ...ORDER, webhook_url: 'https://50%:41@example.com/' }, 'webhook_url'],
    [
      'URL of 8193 in percent-encoding',
      { ...ORDER, return_url: `https://example.com/${'é'.repeat(1362)}x` },
      'return_url',
    ],
    ['URL of 4097', { ...ORDER, failure_url: `https://example.com/${'x'.repeat(4077)}` }, 'failure_url'],
    [
      'rules 18.4: period of 256 characters',
      { ...ORDER, expiration_period: `PT${'0'.repeat(251)}30M` },
      'expiration_period',
    ],
    ['rules 7.2: period above P30D', { ...ORDER, expiration_period: 'P31D' }, 'expiration_period'],
    [
      'rules 6.1: two transactions',
      { ...ORDER, transactions: [{ payment_method: 'a' }, { payment_method: 'a' }] },
      'transactions',
    ],
    ['transactions as object', { ...ORDER, transactions: {} }, 'transactions'],
    ['transaction without method', { ...ORDER, transactions: [{}] }, 'transactions.0.payment_method'],
    ['unknown capture_mode', withTransaction({ capture_mode: 'later' }), 'transactions.0.capture_mode'],
    [
      'authorization for longer than P5D',
      withTransaction({ capture_mode: 'manual', expiration_period: 'P5DT1S' }),
      'transactions.0.expiration_period',
    ],
    [
      'delayed capture later than P5D',
      withTransaction({ capture_mode: 'delayed', expiration_period: 'PT121H' }),
      'transactions.0.expiration_period',
    ],
    [
      'transaction for longer than P30D',
      withTransaction({ expiration_period: 'P31D' }),
      'transactions.0.expiration_period',
    ],
    ['empty vault_token', withDetails({ vault_token: '' }), `${DETAILS}.vault_token`],
    [
      'empty receiver_account_number',
      withDetails({ receiver_account_number: '' }),
      `${DETAILS}.receiver_account_number`,
    ],
    [
      'receiver_account_number of 51',
      withDetails({ receiver_account_number: 'x'.repeat(51) }),
      `${DETAILS}.receiver_account_number`,
    ],
    ['rules 1.7: misspelt receiver_ field null', withDetails({ receiver_name: null }), `${DETAILS}.receiver_name`],
    ['rules 1.17: country that is reserved', { ...ORDER, customer: { country: 'UK' } }, 'customer.country'],
    ['phone number as number', { ...ORDER, customer: { phone_numbers: [1] } }, 'customer.phone_numbers.0'],
    ['extra as list', { ...ORDER, extra: [1] }, 'extra'],
    ['extra above 16 KiB', { ...ORDER, extra: { x: 'x'.repeat(FREE_FORM_BYTES_MAX) } }, 'extra'],
    [
      'rules 18.3: extra above 16 KiB in bytes, not in characters',
      { ...ORDER, extra: { x: 'é'.repeat(FREE_FORM_BYTES_MAX / 2) } },
      'extra',
    ],
    [
      'rules 18.3: order_lines above 128 KiB',
      { ...ORDER, order_lines: [{ x: 'x'.repeat(FREE_FORM_LIST_BYTES_MAX) }] },
      'order_lines',
    ],
    ['order_lines of texts', { ...ORDER, order_lines: ['x'] }, 'order_lines'],
    ['rules 1.7: character that Postgres cannot store', { ...ORDER, extra: { a: ['x\u0000'] } }, 'extra.a.0'],
    [
      'card number with U+0000 as receiver',
      withDetails({ receiver_account_number: `${CARD}\u0000`, receiver_account_number_type: 'card-account' }),
      `${DETAILS}.receiver_account_number`,
    ],
    ['rules 1.7: half a surrogate pair', { ...ORDER, description: 'x\ud800' }, 'description'],
    ['card number in a URL', { ...ORDER, webhook_url: `https://example.com/?a=%20${CARD}` }, 'webhook_url'],
    [
      'card number in groups in a URL',
      { ...ORDER, return_url: 'https://e.com/4111%2D1111%2D1111%2D1111' },
      'return_url',
    ],
    ['rules 15.1: card number as text', { ...ORDER, description: CARD }, 'description'],
    ['card number with hyphens', { ...ORDER, extra: { a: [{ b: '5544-3300-0000-0037' }] } }, 'extra.a.0.b'],
    ['array of groups', { ...ORDER, extra: { pan: ['4111', '1111', '1111', '1111'] } }, 'extra.pan'],
    ['array of groups as numbers', { ...ORDER, order_lines: [{ n: [4111, 1111, 1111, 1111] }] }, 'order_lines.0.n'],
    ['card number as number', { ...ORDER, extra: { pan: 4111111111111111 } }, 'extra.pan'],
    ['card number as amount', { ...ORDER, amount: 4111111111111111 }, 'amount'],
    ['rules 15.1: card number in a field that is ignored', { ...ORDER, card_number: CARD }, 'card_number'],
    ['card number in a details field that is ignored', withDetails({ card_number: CARD }), `${DETAILS}.card_number`],
    [
      'card number as receiver elsewhere',
      { ...ORDER, extra: { receiver_account_number: CARD } },
      'extra.receiver_account_number',
    ],
    ['card number as a key', { ...ORDER, extra: { [CARD]: 'x' } }, 'extra'],
    ['card number of 13 digits in the details', withDetails({ card_number: EAN }), `${DETAILS}.card_number`],
    ['card number of 13 digits as a key of the details', withDetails({ [EAN]: 'x' }), DETAILS],
    ['card number of 13 digits in a receiver_ field null', withDetails({ [`receiver_${EAN}`]: null }), DETAILS],
  ])('%s: ValidationError', (_title, body, path) => {
    const error = refusal(body);
    const [first] = error.fields;
    expect([error.error, first?.path]).toEqual(['ValidationError', path]);
    expect(first?.text).toMatch(/^[A-Z].*\.$/);
    expect(JSON.stringify([error.value, error.fields])).not.toMatch(/4111|5544|5901|undefined/);
  });

  test.each<[string, unknown]>([
    ['a list', [1]],
    ['a text', 'x'],
    ['null', null],
    ['a number', 1],
    ['nothing', undefined],
  ])('%s is no body', (_title, body) => {
    expect(refusal(body)).toMatchObject({ error: 'ValidationError', fields: [] });
  });

  test('a missing field is called required', () => {
    expect(refusal({ amount: 1 }).value).toBe('currency: This field is required.');
  });

  test.each<[string, object]>([
    ['amount 0', { amount: 0 }],
    ['amount 2^53-1', { amount: Number.MAX_SAFE_INTEGER }],
    ['period PT1S', { expiration_period: 'PT1S' }],
    ['period P30D', { expiration_period: 'P30D' }],
    ['reference of 255', { merchant_order_id: 'x'.repeat(255) }],
    ['description of 4096', { description: 'x'.repeat(4096) }],
    [
      'order_lines of exactly 128 KiB',
      { order_lines: [{ x: 'x'.repeat(FREE_FORM_LIST_BYTES_MAX - '[{"x":""}]'.length) }] },
    ],
    ['extra of exactly 16 KiB', { extra: { x: 'x'.repeat(FREE_FORM_BYTES_MAX - '{"x":""}'.length) } }],
    ['emoji', { description: '🎟️' }],
    ['digits that are no card number', { merchant_order_id: '4111111111111112' }],
    ['an EAN', { merchant_order_id: EAN, extra: { ean: Number(EAN), [EAN]: 1 } }],
    ['a phone number of 12 digits', { customer: { phone_numbers: ['50 1234567896'] } }],
    ['a card number inside a longer text', { description: 'ref 41111111111111110000' }],
  ])('%s is accepted', (_title, fields) => {
    expect(parse({ ...ORDER, ...fields })).toEqual({ ...ORDER, ...fields });
  });

  test('rules 15.1: receiver_account_number may be a card number, and only there', () => {
    const body = withDetails({ receiver_account_number: CARD, receiver_account_number_type: 'card-account' });
    expect(parse(body).transactions?.[0]?.payment_method_details?.receiver_account_number).toBe(CARD);
  });

  test('free-form data keeps keys that JavaScript treats specially', () => {
    const text = '{"__proto__":{"a":1},"constructor":"x","b":[{"__proto__":null}]}';
    expect(JSON.stringify(parse({ ...ORDER, extra: JSON.parse(text) as object }).extra)).toBe(text);
  });

  test(`rules 18.2: a body may be nested ${DEPTH_MAX} levels deep, not one more`, () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
    expect(() => parse({ ...ORDER, extra: nested(DEPTH_MAX - 1) })).not.toThrow();
    expect(refusal({ ...ORDER, extra: nested(DEPTH_MAX) }).value).toMatch('Nested deeper');
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
    expect(refusal({ ...ORDER, other: deep }).value).toMatch('Nested deeper');
    // So many fields are wrong before it that nobody looks at it.
    const wrong = Object.fromEntries(Array.from({ length: WRONG_FIELDS_MAX }, (_, n) => [`k${n}`, '\u0000']));
    expect(refusal({ ...wrong, ...ORDER, extra: { a: deep } }).fields).toHaveLength(WRONG_FIELDS_MAX);
  });

  test('runs of combining marks in texts and addresses, and long lists, are read in linear time', () => {
    const marks = `${'\u0300'.repeat(60_000)}${'\u0316'.repeat(60_000)}`;
    expect(parse({ ...ORDER, unknown: `123456${marks}` })).toMatchObject(ORDER);
    expect(refusal({ ...ORDER, unknown: `4111${marks} 1111${marks} 1111 1111` }).value).toMatch('card number');
    // A mark belongs to the character before it: here the sign of "not equal".
    expect(refusal({ ...ORDER, unknown: '4111=\u03381111=\u03381111=\u03381111' }).value).toMatch('card number');
    expect(refusal({ ...ORDER, return_url: `https://a${marks}/` }).fields.map(({ path }) => path)).toEqual([
      'return_url',
    ]);
    const list = Array.from({ length: 100_000 }, () => 1);
    for (const field of ['payment_methods', 'transactions']) {
      expect(refusal({ ...ORDER, [field]: list }).fields).toEqual([
        { path: field, text: 'Expected at most 1000 values.' },
      ]);
    }
    expect(refusal({ ...ORDER, customer: { phone_numbers: list } }).fields).toHaveLength(1);
  });

  test('a long key does not come back whole', () => {
    expect(refusal({ ...ORDER, ['x'.repeat(10_000)]: CARD }).value.length).toBeLessThan(500);
  });

  test('any JSON is either parsed or refused with a ValidationError', () => {
    const body = fc.record({
      currency: fc.constantFrom('EUR', 'x'),
      amount: fc.nat(),
      extra: fc.jsonValue(),
      transactions: fc.jsonValue(),
      customer: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), body), (value) => {
        try {
          parse(value);
        } catch (error) {
          expect(error).toMatchObject({ error: 'ValidationError' });
        }
      }),
      // Everybody runs the same bodies.
      { seed: 1_989, numRuns: 1_000 },
    );
  });
});

describe('rules 3.1: all that is wrong is reported', () => {
  const fieldsOf = (body: unknown) => refusal(body).fields.map(({ path, text }) => `${path}: ${text}`);

  test('card numbers first, then what cannot be kept, then in the order of the schema', () => {
    const body = {
      amount: -1,
      currency: 'EU',
      merchant_order_id: 7,
      expiration_period: 30,
      payment_methods: ['credit-card', 1],
      transactions: [{ capture_mode: 'manual', expiration_period: 'P6D', payment_method_details: { vault_token: '' } }],
      return_url: 'shop.example',
      customer: { country: 'EU', phone_numbers: 'x', city: null },
      extra: [1],
      client: { name: '\u0000' },
      locale: `nl ${CARD}`,
    };
    expect(fieldsOf(body)).toEqual([
      'locale: A card number is never accepted here: the customer enters it on the hosted page.',
      'client.name: The characters U+0000 and unpaired surrogates are not accepted.',
      'currency: Expected three capital letters, for example EUR.',
      'amount: Expected a whole number of minor units without quotes, 0 or more: 1250 is 12.50 EUR.',
      'merchant_order_id: Expected text.',
      'expiration_period: Expected an ISO 8601 duration, for example PT30M.',
      'payment_methods.1: Expected text.',
      'transactions.0.payment_method: This field is required.',
      'transactions.0.payment_method_details.vault_token: Expected at least 1 character.',
      'transactions.0.expiration_period: Expected P5D at most.',
      'return_url: Expected an absolute http or https URL, for example https://example.com/return.',
      'customer.city: Null is not accepted: leave the field out.',
      'customer.country: Expected two capital letters of ISO 3166-1, for example NL.',
      'customer.phone_numbers: Expected a list.',
      'extra: Expected an object.',
    ]);
  });

  test('null in a misspelt receiver_ field beside one in a known field', () => {
    const body = { ...ORDER, ...withDetails({ receiver_account_number: null, receiver_name: null }) };
    expect(refusal(body).fields.map(({ path }) => path)).toEqual(
      ['account_number', 'name'].map((name) => `${DETAILS}.receiver_${name}`),
    );
  });

  test('of the path and the body alike', () => {
    const error = refusalOf(() =>
      parseRequest(routes.refundOrder, { params: { order_id: 'x' }, query: {}, body: { amount: 'x' } }),
    );
    expect(error.fields.map(({ path }) => path)).toEqual(['order_id', 'amount']);
  });

  test(`${WRONG_FIELDS_MAX} fields at most`, () => {
    expect(fieldsOf({ ...ORDER, order_lines: Array.from({ length: 10_000 }, () => CARD) })).toHaveLength(
      WRONG_FIELDS_MAX,
    );
  });
});

describe('rules 1.7: numbers that would come back changed', () => {
  const parseText = (text: string) => parse(parseJson(text));

  test.each([
    ...['1e-400', '1e400', '9007199254740993', '0.123456789012345678', '4.9e-324'],
    // The nearest double is 1250.
    '1249.9999999999999',
  ])('%s is refused', (number) => {
    for (const field of ['extra', 'client']) {
      const text = `{"currency":"EUR","amount":1,"${field}":{"a":["9007199254740993",${number}]}}`;
      expect(refusalOf(() => parseText(text)).fields).toEqual([
        { path: `${field}.a.1`, text: 'This number would come back changed: send it as text.' },
      ]);
    }
    const lines = `{"currency":"EUR","amount":1,"order_lines":[{"price":${number}}]}`;
    expect(refusalOf(() => parseText(lines)).fields[0]?.path).toBe('order_lines.0.price');
    expect(refusalOf(() => parseText(`{"currency":"EUR","amount":${number}}`)).fields).toEqual([
      { path: 'amount', text: expect.stringMatching(/^Expected a whole number of minor units without quotes/) },
    ]);
    const reference = `{"currency":"EUR","amount":1,"merchant_order_id":${number}}`;
    expect(refusalOf(() => parseText(reference)).fields).toEqual([
      { path: 'merchant_order_id', text: 'Expected text.' },
    ]);
  });

  test('a card number of 19 digits is called one', () => {
    expect(refusalOf(() => parseText('{"currency":"EUR","amount":1,"pan":4000000000000000006}')).fields).toEqual([
      { path: 'pan', text: expect.stringContaining('card number') as string },
    ]);
  });

  test('a number of more digits than a card has is none, also where its exponent hides them', () => {
    const extra = { a: [-1.6368923471763207e220, 4.111111111111111e45] };
    expect(parse({ ...ORDER, extra }).extra).toEqual(extra);
  });

  test('others come back as they were sent, or as the same number in fewer digits', () => {
    const body = parseText('{"currency":"EUR","amount":1,"extra":{"a":[0.10000000000000001,1e20,9007199254740992]}}');
    expect(JSON.stringify(body.extra)).toBe('{"a":[0.1,100000000000000000000,9007199254740992]}');
  });
});

test('a part is captured or voided with a description', () => {
  const params = { order_id: ORDER_ID, transaction_id: ORDER_ID };
  for (const operation of ['captureTransactionAmount', 'voidTransactionAmount'] as const) {
    const parse = (body: unknown) => parseRequest(routes[operation], { params, query: {}, body });
    expect(parse({ amount: 1, description: ' Sold out' }).body.description).toBe(' Sold out');
    for (const description of ['', ' \n', undefined]) {
      expect(refusalOf(() => parse({ amount: 0, description })).fields.map(({ path }) => path)).toEqual([
        'amount',
        'description',
      ]);
    }
  }
});

describe('rules 1.16: ids in a path', () => {
  const get = (order_id: string) =>
    parseRequest(routes.getOrder, { params: { order_id }, query: {}, body: undefined }).params.order_id;

  test('are uuids of any version, in lower case from here on', () => {
    expect(get('1C3A9D52-6A2F-4D4B-9D5E-7A6C0F1E2B34')).toBe('1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34');
    expect(get('11111111-1111-1111-1111-111111111111')).toBe('11111111-1111-1111-1111-111111111111');
  });

  test.each(['', 'x', '1', "1' or 1=1", '1c3a9d526a2f4d4b9d5e7a6c0f1e2b34'])('%j is refused', (id) => {
    expect(refusalOf(() => get(id))).toMatchObject({
      error: 'ValidationError',
      fields: [{ path: 'order_id' }],
    });
  });

  test('a card number in the query is refused, also where the operation reads no query', () => {
    const order_id = '1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34';
    const error = refusalOf(() =>
      parseRequest(routes.getOrder, { params: { order_id }, query: { pan: CARD }, body: undefined }),
    );
    expect(error.fields[0]?.path).toBe('pan');
  });
});

describe('rules 11.1: Idempotency-Key', () => {
  test.each(['a', 'x'.repeat(255), '!~', '6f1c:capture', EAN])('%s is accepted', (key) => {
    expect(parseIdempotencyKey(key)).toBe(key);
  });

  test.each(['', 'x'.repeat(256), 'a b', 'é', 'a\tb', CARD, `order-${CARD}`, '4111-1111-1111-1111'])(
    '%j is refused',
    (key) => {
      expect(refusalOf(() => parseIdempotencyKey(key))).toMatchObject({
        error: 'ValidationError',
        fields: [{ path: 'Idempotency-Key' }],
      });
    },
  );
});

test('rules 1.15: PHP writes an empty object as an empty array: it is read as an object where one is meant, and only there', () => {
  const body = {
    currency: 'EUR',
    amount: 1,
    customer: [],
    client: [],
    extra: [],
    transactions: [{ payment_method: 'credit-card', payment_method_details: [] }],
  };
  expect(parseRequest(routes.createOrder, { params: {}, query: {}, body }).body).toMatchObject({
    customer: {},
    client: {},
    extra: {},
    transactions: [{ payment_method_details: {} }],
  });
  expect(() => parseRequest(routes.createOrder, { params: {}, query: {}, body: { ...body, extra: [1] } })).toThrow(
    'extra',
  );
  expect(
    parseRequest(routes.createOrder, { params: {}, query: {}, body: { ...body, extra: { list: [] } } }).body.extra,
  ).toEqual({ list: [] });
  expect(parseRequest(routes.updateOrder, { params: { order_id: ORDER_ID }, query: {}, body: [] }).body).toEqual({});
  expect(
    parseRequest(routes.voidTransaction, {
      params: { order_id: ORDER_ID, transaction_id: ORDER_ID },
      query: {},
      body: [],
    }).body,
  ).toEqual({});
  expect(refusal([]).value).toBe('currency: This field is required.');
});

test('rules 1.6: an unknown parameter of a list is refused and named; one of a single order is ignored', () => {
  const query = { created_since: 'x', created_after: '2026-01-15T12:00:05Z', 'fields[0]': 'a' };
  for (const route of [routes.listOrders, routes.listPaymentLinks]) {
    const error = refusalOf(() => parseRequest(route, { params: {}, query, body: undefined }));
    expect(error.fields.map(({ path }) => path)).toEqual(['created_since', 'created_after', 'fields[]']);
    expect(error.fields[1]?.text).toBe('This parameter is not known.');
  }
  const params = { order_id: ORDER_ID };
  expect(() => parseRequest(routes.getOrder, { params, query: { expand: 'x' }, body: undefined })).not.toThrow();
});

test('rules 3.7: a name of a parameter that is a card number is refused and not repeated', () => {
  const query = { [CARD]: '', [`x${CARD}`]: CARD };
  const error = refusalOf(() => parseRequest(routes.listOrders, { params: {}, query, body: undefined }));
  expect(JSON.stringify([error.value, error.fields])).not.toContain('4111');
});

test('PHP numbers the values of a list', () => {
  const fields = (query: object) =>
    parseRequest(routes.getOrder, { params: { order_id: ORDER_ID }, query, body: undefined }).query['fields[]'];
  expect(fields({ 'fields[0]': 'amount_details' })).toEqual(['amount_details']);
  expect(fields({ 'fields[0]': 'other', 'fields[1]': 'amount_details' })).toEqual(['amount_details']);
  expect(fields({ 'fields[]': 'amount_details', 'fields[7]': 'other' })).toEqual(['amount_details']);
  expect(fields({ 'fields[x]': 'amount_details' })).toBeUndefined();
});

test('rules 1.10: a capture or void of all that is left takes no amount', () => {
  for (const operation of ['captureTransaction', 'voidTransaction'] as const) {
    const parse = (body: unknown) =>
      parseRequest(routes[operation], { params: { order_id: ORDER_ID, transaction_id: ORDER_ID }, query: {}, body });
    for (const amount of [100, 0, null]) {
      expect(refusalOf(() => parse({ amount }))).toMatchObject({
        error: 'ValidationError',
        fields: [{ path: 'amount', text: expect.stringContaining('/amount/') as string }],
      });
    }
    expect(() => parse({ description: 'x' })).not.toThrow();
  }
});

test('rules 1.4: numbers of free-form data are values: how they were written is not kept', () => {
  expect(JSON.stringify(parse({ ...ORDER, extra: JSON.parse('{"a":1.0,"b":1e2}') as object }).extra)).toBe(
    '{"a":1,"b":100}',
  );
});

test('rules 15.7: arrays of prices, sizes, quantities and article numbers are accepted', () => {
  // Each passes the check digit of a card.
  const arrays = [
    [4999, 1250, 2595, 1500],
    [4826, 6373, 6895, 6655],
    ['6867', '4710', '5823', '4008'],
    CARD.split('').map(Number),
    [41, 42, 43, 44, 45, 46, 47, 48],
    ['41', '42', '43', '44', '45', '46', '47', '48'],
    [41111111, 11111111],
    ['41111111', '11111111'],
  ];
  const extra = Object.fromEntries(arrays.map((array, n) => [`array_${n}`, array]));
  expect(parse({ ...ORDER, extra }).extra).toEqual(extra);
});
