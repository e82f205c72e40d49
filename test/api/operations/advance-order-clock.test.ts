import { v7 as uuidv7 } from 'uuid';
import type { Order } from '../../../src/client';
import { CARD, Client } from '../../support/customer';
import { CARDS } from '../../support/domain';
import { Merchant, newIdempotencyKey, type RefusalName } from '../../support/merchant';
import { stack } from '../../support/stack';

const merchant = new Merchant();
type Answer = Order & { error: RefusalName; test_clock: string };
const advance = (id: string, body: unknown, headers: Record<string, string> = {}, who = merchant) =>
  who.send<Answer>('POST', `/v1/orders/${id}/test-clock/`, { body, headers });
const refusalOf = ({ status, body }: Awaited<ReturnType<typeof advance>>) => [
  status,
  body.error.type,
  body.error.property_path,
];

const HOUR = 60 * 60_000;

test('rules 23.5: the answer is the order after the advance, with its time and a new ETag; the order shows it from then on', async () => {
  const order = await merchant.createOrder({ expiration_period: 'P1D' });
  expect(order).not.toHaveProperty('test_clock');
  const { status, headers, body } = await advance(order.id, { advance: 'PT2H' });
  expect([status, headers.get('etag'), body.status]).toEqual([200, '"1"', 'new']);
  const ahead = Date.parse(body.test_clock) - Date.now();
  expect([ahead > 2 * HOUR - 60_000, ahead <= 2 * HOUR]).toEqual([true, true]);
  const shown = (await merchant.getOrder(order.id)) as Answer;
  expect(shown.test_clock >= body.test_clock).toBe(true);
  expect(shown['modified'] > order.modified).toBe(true);
  const { modified } = order;
  expect({ ...shown, modified, test_clock: undefined }).toEqual({ ...order, test_clock: undefined });
});

test('`to` is an instant, with any offset', async () => {
  const { id } = await merchant.createOrder({ expiration_period: 'P30D' });
  const to = new Date(Date.now() + 5 * HOUR);
  const in_vienna = `${new Date(to.getTime() + HOUR).toISOString().slice(0, 23)}+01:00`;
  const { body } = await advance(id, { to: in_vienna });
  const late = Date.parse(body.test_clock) - to.getTime();
  expect([late >= 0, late < 60_000]).toEqual([true, true]);
});

test('rules 23.5: one Idempotency-Key is one advance; without it each request is one', async () => {
  const { id } = await merchant.createOrder({ expiration_period: 'P30D' });
  const headers = { 'idempotency-key': newIdempotencyKey() };
  const first = await advance(id, { advance: 'P1D' }, headers);
  expect((await advance(id, { advance: 'P1D' }, headers)).body).toEqual(first.body);
  const { body } = await advance(id, { advance: 'P1D' });
  const days = (Date.parse(body.test_clock) - Date.now()) / (24 * HOUR);
  expect([days > 1.99, days < 2.01]).toEqual([true, true]);
});

test('rules 11.9: of three advances and a change at once with one tag, exactly one is made', async () => {
  const { id } = await merchant.createOrder({ expiration_period: 'P30D' });
  const headers = { 'if-match': '"0"' };
  const answers = await Promise.all([
    ...[1, 2, 3].map(() => advance(id, { advance: 'P1D' }, headers)),
    merchant.send<Answer>('PUT', `/v1/orders/${id}/`, { body: { description: 'changed' }, headers }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412]);
  const { test_clock = new Date().toISOString(), description } = (await merchant.getOrder(id)) as Partial<Answer>;
  const days = Math.round((Date.parse(test_clock) - Date.now()) / (24 * HOUR));
  expect(days + (description === 'changed' ? 1 : 0)).toBe(1);
});

describe('rules 23.5: refused', () => {
  let id: string;
  beforeAll(async () => {
    ({ id } = await merchant.createOrder());
    await advance(id, { advance: 'P1D' });
  });
  test.each<[string, unknown, string]>([
    ['neither', {}, 'advance'],
    ['both', { advance: 'PT1H', to: '2030-01-01T00:00:00Z' }, 'advance'],
    ['less than a second', { advance: 'PT0S' }, 'advance'],
    ['months, whose length is not fixed', { advance: 'P1M' }, 'advance'],
    ['more than 400 days', { advance: 'P401D' }, 'advance'],
    ['more than 400 days in all', { advance: 'P400D' }, 'advance'],
    ['a date', { to: '2030-01-01' }, 'to'],
    ['back', { to: '2026-01-01T00:00:00Z' }, 'to'],
    ['to the current time', { to: new Date().toISOString() }, 'to'],
    ['too far', { to: '2099-01-01T00:00:00Z' }, 'to'],
    ['before 1970', { to: '1969-12-31T23:59:59Z' }, 'to'],
    ['to the last instant of ISO 8601', { to: '9999-12-31T23:59:59Z' }, 'to'],
  ])('%s: ValidationError', async (_title, body, path) => {
    expect(refusalOf(await advance(id, body))).toEqual([400, 'ValidationError', path]);
  });

  test('rules 23.4: a live project is Forbidden, and its order stays', async () => {
    const live = new Merchant(stack(), stack().live_api_key);
    const order = await live.createOrder();
    expect(refusalOf(await advance(order.id, { advance: 'PT1H' }, {}, live)).slice(0, 2)).toEqual([403, 'Forbidden']);
    expect(await live.getOrder(order.id)).toEqual(order);
  });

  test('a follow-up order and an order of a payment link: Conflict, which names the owner of the clock', async () => {
    const payment = await merchant.paidOrder('approved');
    const { body: refund } = await merchant.send<Order>('POST', `/v1/orders/${payment.id}/refunds/`, {
      body: { amount: 100 },
    });
    const of_refund = await advance(refund.id, { advance: 'PT1H' });
    expect([of_refund.status, of_refund.body.error.type]).toEqual([409, 'Conflict']);
    expect(of_refund.body.error.value).toBe(`The order uses the clock of the order ${payment.id}: advance that one.`);

    const link = await merchant.createPaymentLink();
    const customer = new Client();
    const { pathname } = new URL(link.payment_url);
    const form = { ...CARD, ...(await customer.openPage({ id: '' }, pathname)), number: CARDS.do_not_honor.number };
    await customer.postForm(pathname, form);
    const [order_id] = (await merchant.getPaymentLink(link.id)).orders['error']!;
    const of_order = await advance(order_id!, { advance: 'PT1H' });
    expect(of_order.body.error.value).toBe(
      `The order uses the clock of the payment link ${link.id}: advance that one.`,
    );
  });

  test('another version than If-Match names, another project, an unknown id', async () => {
    const live = new Merchant(stack(), stack().live_api_key);
    const refused = [
      await advance(id, { advance: 'PT1H' }, { 'if-match': '"77"' }),
      await advance(id, { advance: 'PT1H' }, {}, live),
      await advance(uuidv7(), { advance: 'PT1H' }),
    ];
    expect(refused.map((answer) => refusalOf(answer)[1])).toEqual(['PreconditionFailed', 'Unauthorized', 'NotFound']);
  });
});
