import { v5 as uuidv5 } from 'uuid';
import { orderSchema } from '../../../src/contract/order';
import { recordRows } from '../../support/database';
import { CUSTOMER } from '../../support/domain';
import { Merchant, statusesOf } from '../../support/merchant';
import { sendOperationUntilAnswered } from '../../support/merchant-payments';
import { createTestProject } from '../../support/operator';

/** Creating an order, on the real stack; its refusals are in test/journeys/refusals.test.ts. */
const merchant = new Merchant();

test('rules 7.2: absent fields come from the project', async () => {
  const order = orderSchema.parse(await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }] }));
  const { body: project } = await merchant.send<{
    id: string;
    merchant_id: string;
    expiration_period: string;
    transaction_expiration_period: string;
  }>('GET', '/v1/merchants/self/projects/self/');
  expect(order).toMatchObject({
    project_id: project.id,
    merchant_id: project.merchant_id,
    expiration_period: project.expiration_period,
  });
  expect(order.transactions![0]!.expiration_period).toBe(project.transaction_expiration_period);
});

test('rules 1.9: periods are answered as they were sent, not normalized', async () => {
  for (const expiration_period of ['PT90M', 'PT1H30M', 'P1DT0S', 'P2W']) {
    expect((await merchant.createOrder({ expiration_period })).expiration_period).toBe(expiration_period);
  }
});

test('without an Idempotency-Key ids grow with time, so that orders lie in the order they came', async () => {
  const create = async () =>
    (
      await sendOperationUntilAnswered(() =>
        merchant.send<{ id: string }>('POST', '/v1/orders/', { body: { currency: 'EUR', amount: 1 } }),
      )
    ).body.id;
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await create());
  expect(ids).toEqual(ids.toSorted());
});

test('rules 5.9: with an Idempotency-Key the id cannot be guessed from the key and the project, which are no secrets', async () => {
  const key = `guess-${process.pid}`;
  const answer = await merchant.send('POST', '/v1/orders/', {
    body: { currency: 'EUR', amount: 1 },
    headers: { 'idempotency-key': key },
  });
  const { id, project_id } = orderSchema.parse(answer.body);
  const projects = await recordRows<{ id: string; id_namespace: string }>('select id, id_namespace from projects');
  expect(id).toBe(uuidv5(`order:${key}`, projects.find((project) => project.id === project_id)!.id_namespace));
  for (const name of [key, `order:${key}`]) expect(uuidv5(name, project_id)).not.toBe(id);
  expect(new Set(projects.map(({ id_namespace }) => id_namespace)).size).toBe(projects.length);
});

test('rules 6.2: a token is the only attempt: after a decline there is no page to try again on', async () => {
  const order = await merchant.paidOrder('do_not_honor');
  expect([statusesOf(order), order.order_url]).toEqual(['error: error', undefined]);
});

test.each([
  ['garbage', 502, 'FailedToFetchTransactionInformation'],
  ['no_answer', 504, 'ServerError'],
] as const)(
  'rules 10.7: the processor answers for the token with %s: %i, nothing is stored or charged',
  async (kind, expected, type) => {
    const { id: project_id, merchant: own } = await createTestProject();
    const transaction = await own.cardTransaction('approved');
    await own.addFault({ operation: 'vault', project_id, kind, times: 1 });
    const request = { body: { currency: 'EUR', amount: 1, transactions: [transaction] } };
    const { status, body } = await own.send<{ error: { type: string } }>('POST', '/v1/orders/', request);
    expect([status, body.error.type]).toEqual([expected, type]);
    expect((await own.send('GET', '/v1/orders/')).body).toEqual([]);
    // It passes, and the same request is good.
    expect((await own.send('POST', '/v1/orders/', request)).status).toBe(200);
  },
);

const RECEIVER = { receiver_account_number: 'NL91ABNA0417164300', receiver_account_number_type: 'iban' };

test.each([
  [
    'manual: until captured or voided, five days at most',
    { capture_mode: 'manual' },
    { capture_mode: 'manual', transaction_type: 'authorization', expiration_period: 'PT30M' },
  ],
  [
    'delayed: captured at the end',
    { capture_mode: 'delayed', expiration_period: 'P2D' },
    { capture_mode: 'delayed', transaction_type: 'authorization', expiration_period: 'P2D' },
  ],
] as const)(
  'rules 7.5: windows: an authorization (%s) shows the value sent, or the time for paying, until it is accepted',
  async (_what, fields, expected) => {
    const order = orderSchema.parse(
      await merchant.createOrder({ transactions: [{ payment_method: 'credit-card', ...fields }] }),
    );
    expect([order.status, order.transactions![0]!.is_capturable]).toEqual(['new', false]);
    expect(order.transactions![0]).toMatchObject(expected);
  },
);

test('account funding: the processor does not answer for the account: 502, nothing is stored', async () => {
  const { id: project_id, merchant: own } = await createTestProject({ account_funding: true });
  await own.addFault({ operation: 'vault', project_id, kind: 'garbage', times: 1 });
  const request = {
    body: {
      currency: 'EUR',
      amount: 1,
      customer: CUSTOMER,
      transactions: [{ payment_method: 'credit-card', payment_method_details: RECEIVER }],
    },
  };
  const { status, body } = await own.send<{ error: { type: string } }>('POST', '/v1/orders/', request);
  expect([status, body.error.type]).toEqual([502, 'FailedToFetchTransactionInformation']);
  expect((await own.send('GET', '/v1/orders/')).body).toEqual([]);
  expect((await own.send('POST', '/v1/orders/', request)).status).toBe(200);
});
