import { errorSchema } from '../../src/contract/error';
import { connectDatabase, type Database } from '../../src/db/connection';
import { ERRORS, errorTypeOf, type ErrorName } from '../../src/errors';
import { CARD, Client } from '../api/page/hosted-page';
import { Merchant, type Answer, type Refusal, type Request } from '../support/client';
import type { OwnStack } from '../support/own-stack';
import { stackIn, type RunningStack } from '../support/stack';
import { until } from '../support/until';

/** Some errors are only seen when something is broken: a low limit, a short deadline, no worker, a spoilt database. */
let own: OwnStack;
let place: RunningStack;
let merchant: Merchant;
let live: Merchant;
let db: Database;
type Refused = Answer<{ error: Refusal }>;
const post = (to: string, body?: unknown, headers: Record<string, string> = {}): Promise<Refused> =>
  merchant.send('POST', to, { headers, ...(body === undefined ? {} : { body }) } satisfies Request);
const ORDER = { currency: 'EUR', amount: 500 };
const funding = (transaction: Record<string, unknown> = {}) => ({
  ...ORDER,
  transactions: [
    {
      payment_method: 'credit-card',
      payment_method_details: { receiver_account_number: 'NL00BANK0123456789', receiver_account_number_type: 'iban' },
      ...transaction,
    },
  ],
});

/** A fault of the processor's vault for the next look-up. */
async function chargeWhileVaultIs(kind: 'garbage' | 'outage'): Promise<Refused> {
  const transactions = [await merchant.cardTransaction('approved')];
  await merchant.addFault({ operation: 'vault', kind, times: 1 });
  return await post('/v1/orders/', { ...ORDER, transactions });
}

/** How each is reached; RequestTimeout takes half a minute and is left to test/api/http/server.test.ts. */
const REACHED: Record<Exclude<ErrorName, 'RequestTimeout'>, () => Promise<Refused>> = {
  ValidationError: () => post('/v1/orders/', { ...ORDER, amount: -1 }),
  IdempotencyKeyReused: async () => {
    const headers = { 'idempotency-key': 'errors-1' };
    await post('/v1/orders/', ORDER, headers);
    return await post('/v1/orders/', { ...ORDER, amount: 501 }, headers);
  },
  MissingInformationToCreateTransaction: () => post('/v1/orders/', funding()),
  TransactionAlreadyStarted: payAnAttemptTwice,
  CanNotCancelTransaction: async () =>
    await merchant.send('DELETE', `/v1/orders/${(await merchant.paidOrder('approved')).id}/`),
  RefundError: async () =>
    await post(`/v1/orders/${(await merchant.paidOrder('approved', { amount: 500 })).id}/refunds/`, { amount: 501 }),
  FailedToFetchTransactionInformation: () => chargeWhileVaultIs('garbage'),
  GatewayTimeout: () => chargeWhileVaultIs('outage'),
  ServerError: async () => {
    const { id } = await merchant.createOrder();
    await db.raw('alter table transactions rename to gone');
    try {
      return await merchant.send('GET', `/v1/orders/${id}/`);
    } finally {
      await db.raw('alter table gone rename to transactions');
    }
  },
  ServiceUnavailable: () => own.without('worker', () => post('/v1/orders/', ORDER)),
  Unauthorized: () => new Merchant(place, 'test_0').send('GET', '/v1/merchants/self/projects/self/'),
  // The live project of the demo is not enabled for account funding.
  Forbidden: () => live.send('POST', '/v1/orders/', { body: funding() }),
  NotFound: () => merchant.send('GET', '/v1/orders/01900000-0000-7000-8000-000000000000/'),
  MethodNotAllowed: () => merchant.send('PATCH', '/v1/orders/'),
  Conflict: async () => {
    const { id, transactions } = await merchant.paidOrder('approved');
    return await post(`/v1/orders/${id}/transactions/${transactions![0]!.id}/captures/`);
  },
  RequestHeaderFieldsTooLarge: () =>
    merchant.send('GET', '/v1/orders/', { headers: { 'x-large': 'x'.repeat(17_000) } }),
  PreconditionFailed: async () =>
    await merchant.send('DELETE', `/v1/orders/${(await merchant.createOrder()).id}/`, {
      headers: { 'if-match': '"99"' },
    }),
  TooManyRequests: async () => {
    // How many it takes depends on how fast they come.
    for (;;) {
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => live.send<{ error: Refusal }>('GET', '/v1/merchants/self/projects/self/')),
      );
      const refused = answers.find(({ status }) => status !== 200);
      if (refused) return refused;
    }
  },
  PayloadTooLarge: () => post('/v1/orders/', { ...ORDER, unknown: 'x'.repeat(262_144) }),
  UnsupportedMediaType: () =>
    post('/v1/orders/', 'currency=EUR', { 'content-type': 'application/x-www-form-urlencoded' }),
};

/** No request of a merchant starts an attempt that is there: only the hosted page's form does, sent again. */
async function payAnAttemptTwice(): Promise<Refused> {
  const order = await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }] });
  const customer = new Client(place.api_url);
  const form = { ...CARD, ...(await customer.openPage(order)) };
  // Away until the form was sent again, however long that takes.
  await merchant.addFault({ operation: 'sale', order_id: order.id, kind: 'outage' });
  try {
    await customer.postForm(`/pay/${order.id}/`, form);
    expect((await merchant.getOrder(order.id)).status).toBe('processing');
    const again = await customer.postForm(`/pay/${order.id}/`, form, { accept: 'application/json' });
    return { status: again.status, headers: again.headers, body: (await again.json()) as { error: Refusal } };
  } finally {
    await merchant.removeFaults();
  }
}

/** Tests of every row of the table of errors, answered by the servers of this stack. */
export function testEveryError(stack: OwnStack): void {
  beforeAll(() => {
    own = stack;
    place = stackIn(own.data_dir);
    [merchant, live] = [new Merchant(place), new Merchant(place, place.live_api_key)];
    db = connectDatabase(place.postgres_url, { pool_max: 1 });
  });
  afterAll(() => db.destroy());

  test.each(Object.entries(REACHED) as [ErrorName, () => Promise<Refused>][])(
    '%s',
    async (name, reach) => {
      const { status, headers, body } = await reach();
      const { error } = errorSchema.parse(body);
      expect([status, error.status, error.type]).toEqual([ERRORS[name].status, ERRORS[name].status, errorTypeOf(name)]);
      expect(Object.keys(body)).toEqual(['error']);
      if (status === 429 || status === 503) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      if (name === 'ServerError') expect(error.value).toBe(ERRORS.ServerError.meaning);
    },
    60_000,
  );

  test('after all of it the service is well', async () => {
    // Until then it answers 503.
    await until(
      'the worker works again',
      async () => (await merchant.paidOrder('approved').catch(() => undefined))?.status === 'completed',
      50_000,
    );
  });
}
