import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { orderSchema, type Order } from '../../src/contract/order';
import { connectDatabase, queryRows } from '../../src/db/connection';
import { STATES } from '../../src/domain/account-funding';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { orderWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../api/page/hosted-page';
import { CARDS } from '../support/cards';
import { Merchant, statusesOf } from '../support/client';
import { CUSTOMER } from '../support/customer';
import { createTestProject, type TestProject } from '../support/projects';
import { stack } from '../support/stack';
import { temporalOf } from '../support/temporal-client';
import { payloadsIn } from './payloads';
import {
  newIdempotencyKey,
  ledgerOf,
  capture,
  expectNothingEmpty,
  untilFollowUp,
  runConcurrently,
  sendOperationUntilAnswered,
  getWholeOrder,
  refund,
  outcomeOf,
  voidPart,
  part,
  type OrderAnswer,
  type Sent,
} from './requests';

/** A card is charged to load money into another account (rules 14). */

/** Numbers of nothing else in this run, so that they can be searched for: a card of no table, and an account. */
const RECEIVING_CARD = '5105105105105100';
const RECEIVING_ACCOUNT = 'DE89370400440532013000';
const RECEIVER = { receiver_account_number: RECEIVING_CARD, receiver_account_number_type: 'card-account' };
const AT = 'transactions.0.payment_method_details';

let project: TestProject;
let merchant: Merchant;
/** Ids of orders whose histories are searched at the end. */
const made: string[] = [];
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
  if (answer.status === 200) made.push(answer.body.id);
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

  test('with a card token it is charged at once', async () => {
    const { body } = await fund(merchant, { details: { ...RECEIVER, vault_token: await token() } });
    expect([statusesOf(body), body.transactions![0]!.transaction_type]).toEqual(['completed: accepted', 'aft']);
  });

  test('attempts: after a decline a further attempt is for the same account', async () => {
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
    const tokens = await rowsOf<{ receiver_account_token: string }>(
      'payments',
      'select receiver_account_token from transactions where order_id = :id',
      {
        id: order.id,
      },
    );
    expect(new Set(tokens.map(({ receiver_account_token }) => receiver_account_token)).size).toBe(1);
  });

  test('any receiver field makes it account funding, and a transaction without one is none', async () => {
    for (const [details, field] of [
      [{ receiver_account_number: RECEIVING_ACCOUNT }, 'receiver_account_number_type'],
      [{ receiver_account_number_type: 'iban' }, 'receiver_account_number'],
      [{ receiver_acount_number: 'x' }, 'receiver_account_number'],
    ] as const) {
      expect(refusal(await fund(merchant, { details }))).toEqual([
        422,
        'MissingInformationToCreateTransaction',
        `${AT}.${field}`,
      ]);
    }
    const { body } = await fund(merchant, { details: {}, customer: undefined });
    expect(body.transactions![0]).not.toHaveProperty('transaction_type');
  });

  test.each([
    ['x', '*'],
    [RECEIVING_ACCOUNT, 'DE8937************3000'],
    ['5'.repeat(50), `555555${'*'.repeat(40)}5555`],
  ])('an account number of 1 to 50 characters: %s', async (receiver_account_number, shown) => {
    const { status, body } = await fund(merchant, {
      details: { receiver_account_number, receiver_account_number_type: 'account' },
    });
    expect([status, body.transactions![0]!.payment_method_details!.receiver_account_number]).toEqual([200, shown]);
  });
});

describe('rules 14.5: capture_mode may be set; then the standard capture and void apply', () => {
  test('manual: captured in part, voided, refunded; its follow-up orders are of the card, without the receiver', async () => {
    const { body: order } = await fund(merchant, {
      details: { ...RECEIVER, vault_token: await token() },
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
    expect([voided, captured, refunded].map(outcomeOf)).toEqual(Array(3).fill([200, 'completed']));
    for (const { body } of [voided, captured, refunded]) {
      made.push(body.id);
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

  test('delayed: captured at the end', async () => {
    const { body: order } = await fund(merchant, {
      details: { ...RECEIVER, vault_token: await token() },
      transaction: { capture_mode: 'delayed', expiration_period: 'PT1S' },
    });
    expect(await untilFollowUp(merchant, order, 'is-capture')).toMatchObject({ status: 'completed', amount: 900 });
    expect((await getWholeOrder(merchant, order)).transactions![0]!.transaction_type).toBe('aft');
  });
});

describe('missing or wrong fields: nothing is stored', () => {
  test.each(Object.keys(CUSTOMER))(
    'rules 14.2: customer.%s is needed: 422 names it; empty or blank is missing too',
    async (field) => {
      for (const value of [undefined, '', '  ']) {
        // A country that is no code is refused by its own rule.
        if (field === 'country' && value !== undefined) continue;
        expect(refusal(await fund(merchant, { customer: { ...CUSTOMER, [field]: value } }))).toEqual([
          422,
          'MissingInformationToCreateTransaction',
          `customer.${field}`,
        ]);
      }
    },
  );

  test('rules 14.2: no customer at all names its first field', async () => {
    expect(refusal(await fund(merchant, { order: { customer: undefined } }))).toEqual([
      422,
      'MissingInformationToCreateTransaction',
      'customer.first_name',
    ]);
  });

  test('rules 14.2: another address than billing', async () => {
    expect(refusal(await fund(merchant, { customer: { ...CUSTOMER, address_type: 'shipping' } }))).toEqual([
      400,
      'ValidationError',
      'customer.address_type',
    ]);
  });

  test.each(['US', 'CA'])('rules 14.2: state is needed for %s', async (country) => {
    expect(refusal(await fund(merchant, { customer: { ...CUSTOMER, country } }))).toEqual([
      422,
      'MissingInformationToCreateTransaction',
      'customer.state',
    ]);
    for (const state of ['XX', 'ny', 'New York', country === 'US' ? 'ON' : 'NY']) {
      expect(refusal(await fund(merchant, { customer: { ...CUSTOMER, country, state } }))).toEqual([
        400,
        'ValidationError',
        'customer.state',
      ]);
    }
  });

  test.each([
    ['CA', 6, 'AB BC MB NB NL NS NT NU ON PE QC SK YT'],
    [
      'US',
      7,
      'AA AE AK AL AP AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY',
    ],
  ])('the states of %s (rule %i) are accepted', async (country, _rule, list) => {
    expect(STATES[country]!.join(' ')).toBe(list);
    const states = list.split(' ');
    const answers = await runConcurrently(states.length, 8, (n) =>
      fund(merchant, { customer: { ...CUSTOMER, country, state: states[n] } }),
    );
    expect(answers.map(({ status }) => status)).toEqual(states.map(() => 200));
  });

  test('state is enforced for these two countries, and for account funding, only', async () => {
    expect((await fund(merchant, { customer: { ...CUSTOMER, state: 'anything' } })).status).toBe(200);
    expect((await fund(merchant, { customer: { country: 'US', state: 'XX' }, details: {} })).status).toBe(200);
  });

  test.each([
    ['an empty account number', { ...RECEIVER, receiver_account_number: '' }, `${AT}.receiver_account_number`],
    ['one of 51 characters', { ...RECEIVER, receiver_account_number: '5'.repeat(51) }, `${AT}.receiver_account_number`],
    ['one that is no text', { ...RECEIVER, receiver_account_number: 5 }, `${AT}.receiver_account_number`],
    ['one with U+0000', { ...RECEIVER, receiver_account_number: 'a\u0000b' }, `${AT}.receiver_account_number`],
    [
      'a card number as its type',
      { ...RECEIVER, receiver_account_number_type: RECEIVING_CARD },
      `${AT}.receiver_account_number_type`,
    ],
    ['a card number under another name', { ...RECEIVER, account: RECEIVING_CARD }, `${AT}.account`],
    ['a token nobody has', { ...RECEIVER, vault_token: 'nobody' }, `${AT}.vault_token`],
  ])('%s: ValidationError', async (_title, details, property_path) => {
    const answer = await fund(merchant, { details });
    expect(refusal(answer)).toEqual([400, 'ValidationError', property_path]);
    expect(JSON.stringify(answer.body)).not.toContain(RECEIVING_CARD);
  });

  test('a card number is accepted as the account, and nowhere else', async () => {
    expect((await fund(merchant)).status).toBe(200);
    for (const [order, field] of [
      [{ merchant_order_id: RECEIVING_CARD }, 'merchant_order_id'],
      [{ extra: { receiver_account_number: RECEIVING_CARD } }, 'extra.receiver_account_number'],
      [{ receiver_account_number: RECEIVING_CARD }, 'receiver_account_number'],
    ] as const) {
      expect(refusal(await fund(merchant, { order }))).toEqual([400, 'ValidationError', field]);
    }
  });

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

  test('none of these refusals has left an order', async () => {
    const { merchant: own } = await createTestProject({ account_funding: true });
    for (const over of [
      { customer: { ...CUSTOMER, city: undefined } },
      { customer: { ...CUSTOMER, country: 'US', state: 'XX' } },
      { details: { ...RECEIVER, receiver_account_number: '' } },
    ]) {
      expect((await fund(own, over)).status).not.toBe(200);
    }
    expect((await own.send('GET', '/v1/orders/')).body).toEqual([]);
  });
});

describe('the second time', () => {
  test('the same key, the same account: one order; another account or customer: 422', async () => {
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const answers = await Promise.all([1, 2, 3].map(() => fund(merchant, {}, { headers })));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    for (const over of [
      { details: { ...RECEIVER, receiver_account_number: RECEIVING_ACCOUNT } },
      { customer: { ...CUSTOMER, city: 'Utrecht' } },
    ]) {
      expect(refusal(await fund(merchant, over, { headers })).slice(0, 2)).toEqual([422, 'IdempotencyKeyReused']);
    }
  });

  test('a refusal for a missing field is not kept: the corrected request may use the same key', async () => {
    const headers = { 'idempotency-key': newIdempotencyKey() };
    expect((await fund(merchant, { customer: { ...CUSTOMER, city: undefined } }, { headers })).status).toBe(422);
    expect((await fund(merchant, {}, { headers })).status).toBe(200);
  });
});

async function rowsOf<Row>(database: string, sql: string, bindings: Record<string, unknown> = {}): Promise<Row[]> {
  const db = connectDatabase(stack().postgres_url.replace(/\/\w+$/, `/${database}`), { pool_max: 1 });
  try {
    return await queryRows<Row>(db, sql, bindings);
  } finally {
    await db.destroy();
  }
}

/** Runs last: what all of the above has left. */
describe('rules 14.6: the account number is stored nowhere in full', () => {
  const found = (text: string) => [RECEIVING_CARD, RECEIVING_ACCOUNT].filter((number) => text.includes(number));

  test.each(['payments', 'simulator'])('not in the database %s', async (database) => {
    const tables = await rowsOf<{ name: string }>(
      database,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    let all = '';
    for (const { name } of tables) {
      const text = (await rowsOf<{ line: string }>(database, `select row_to_json(t)::text as line from ${name} t`))
        .map(({ line }) => line)
        .join('\n');
      expect([name, found(text)]).toEqual([name, []]);
      all += text;
    }
    // What may be kept of it is there, so that it was.
    for (const shown of ['510510******5100', 'DE8937************3000']) expect(all).toContain(shown);
  });

  test('not in the histories of Temporal', async () => {
    const client = temporalOf();
    const codec = new EncryptingCodec(stack().payload_keys);
    try {
      let seen = '';
      for (const id of made.slice(0, 40)) {
        const history = await client.workflow.getHandle(orderWorkflowId(id)).fetchHistory();
        seen +=
          (await codec.decode(payloadsIn(history))).map(({ data }) => Buffer.from(data ?? []).toString()).join('\n') +
          JSON.stringify(history);
      }
      expect(seen).toContain('510510******5100');
      expect(found(seen)).toEqual([]);
    } finally {
      await client.connection.close();
    }
  });

  test('not in the logs', () => {
    const folder = path.join(stack().data_dir, 'logs');
    for (const name of readdirSync(folder)) {
      expect([name, found(readFileSync(path.join(folder, name), 'utf8'))]).toEqual([name, []]);
    }
  });

  test('not in any answer', async () => {
    for (const id of made.slice(0, 40)) {
      expect(found(JSON.stringify(await getWholeOrder(merchant, { id })))).toEqual([]);
    }
    const list = await merchant.send<Order[]>('GET', '/v1/orders/');
    expect([list.body.length > 50, found(JSON.stringify(list.body))]).toEqual([true, []]);
    const page = await (await new Client().send(`/pay/${made[0]}/`)).text();
    expect(found(page)).toEqual([]);
  });
});
