import { dayTotalsSchema } from '../../../src/contract/report';
import type { Merchant } from '../../support/merchant';
import { createAuthorization, capturePart, part, refund, untilFollowUp } from '../../support/merchant-payments';
import { createTestProject } from '../../support/operator';
import { postControl, stack } from '../../support/stack';
import { until } from '../../support/waits';

type Cells = Record<string, string>;

/** The rows of the transaction report for the orders of a day. */
async function reportOf(merchant: Merchant, day: string): Promise<Cells[]> {
  const response = await fetch(`${stack().api_url}/v1/search/orders/?format=csv`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${merchant.api_key}:`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query: `created:${day}`, sort: 'created' }),
  });
  const [header = '', ...lines] = (await response.text()).trimEnd().split('\r\n');
  const columns = header.split(',');
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, n) => [columns[n]!, cell.replace(/^"(.*)"$/, '$1')])),
  );
}

/** Main units of two decimals as minor units. */
const minor = (text = '') => Math.round(Number(text) * 100);
const sum = (rows: Cells[], of: (row: Cells) => number) => rows.reduce((total, row) => total + of(row), 0);

/** The totals of a currency, made from the rows of the report. */
function totalsOf(rows: Cells[], currency: string) {
  const own = rows.filter((row) => row['currency'] === currency);
  const accepted = (kind: string) =>
    sum(
      own.filter((row) => row['kind'] === kind && row['transaction.status'] === 'accepted'),
      (row) => Number(row['transaction.amount']),
    );
  return {
    currency,
    orders: new Set(own.filter(({ kind }) => kind === 'payment').map(({ id }) => id)).size,
    accepted_amount: accepted('payment'),
    refunded_amount: accepted('refund'),
    charged_back_amount: accepted('chargeback'),
    settled_amount: sum(
      rows.filter((row) => row['transaction.settlement_currency'] === currency),
      (row) => minor(row['transaction.settlement_amount']) * (row['transaction.credit_debit'] === 'debit' ? -1 : 1),
    ),
    fee_amount: sum(
      rows.filter((row) => row['transaction.fee_currency'] === currency),
      (row) => minor(row['transaction.fee_amount']),
    ),
  };
}

test('rules 26.9: the totals of a day are the sums of its transaction report, by currency', async () => {
  const { merchant } = await createTestProject({ currencies: ['EUR', 'USD'] });
  const paid = await merchant.paidOrder('approved', { amount: 10_000 });
  await refund(merchant, paid, { amount: 4_000 });
  await merchant.paidOrder('do_not_honor');
  await merchant.createOrder();
  const in_dollars = await merchant.paidOrder('chargeback', { amount: 2_500, currency: 'USD' });
  await postControl(stack(), 'due', { transaction_id: in_dollars.transactions![0]!.id });
  await untilFollowUp(merchant, in_dollars, 'is-chargeback');
  const held = await createAuthorization(merchant);
  await capturePart(merchant, held, part(300));
  await postControl(stack(), 'settlements', { order_id: paid.id });
  await until('the payment and its refund are settled', async () => {
    const orders = [paid.id, ...((await merchant.getOrder(paid.id)).related_orders ?? [])];
    const settled = await Promise.all(orders.map((id) => merchant.getOrder(id)));
    return settled.every(({ transactions }) => transactions![0]!.settlement_amount !== undefined);
  });

  // The orders may have been made on both sides of midnight.
  const day = paid.created.slice(0, 10);
  const { status, body } = await merchant.send('GET', `/v1/reports/totals/?day=${day}`);
  expect(status).toBe(200);
  const rows = await reportOf(merchant, day);
  expect(dayTotalsSchema.parse(body)).toEqual({
    day,
    totals: ['EUR', 'USD'].map((currency) => totalsOf(rows, currency)),
  });
  expect(totalsOf(rows, 'EUR')).toMatchObject({
    orders: 4,
    accepted_amount: 11_000,
    refunded_amount: 4_000,
    settled_amount: 5_840,
    fee_amount: 160,
  });
  expect(totalsOf(rows, 'USD')).toMatchObject({ orders: 1, accepted_amount: 2_500, charged_back_amount: 2_500 });
});

test('rules 26.9: a sum that a JSON number does not hold exactly is null, and the others are there', async () => {
  const { merchant } = await createTestProject({ currencies: ['EUR', 'USD'] });
  const { created } = await merchant.paidOrder('approved', { amount: Number.MAX_SAFE_INTEGER });
  await merchant.paidOrder('approved', { amount: Number.MAX_SAFE_INTEGER, currency: 'USD' });
  await merchant.paidOrder('approved', { amount: 1 });
  const { status, body } = await merchant.send('GET', `/v1/reports/totals/?day=${created.slice(0, 10)}`);
  expect(status).toBe(200);
  expect(dayTotalsSchema.parse(body).totals).toMatchObject([
    { currency: 'EUR', orders: 2, accepted_amount: null, refunded_amount: 0 },
    { currency: 'USD', orders: 1, accepted_amount: Number.MAX_SAFE_INTEGER },
  ]);
});

test('rules 26.9: only the own project counts; a day without orders has no totals', async () => {
  const [{ merchant }, other] = [await createTestProject(), await createTestProject()];
  await other.merchant.paidOrder('approved');
  for (const day of [new Date().toISOString().slice(0, 10), '1999-12-31', '2024-02-29']) {
    expect((await merchant.send('GET', `/v1/reports/totals/?day=${day}`)).body).toEqual({ day, totals: [] });
  }
});

test.each(['0000-01-01', '0000-12-31', '1969-12-31', '9999-12-31'])(
  'rules 26.9: a day on which there can be no orders has no totals: %s',
  async (day) => {
    const { merchant } = await createTestProject();
    const { status, body } = await merchant.send('GET', `/v1/reports/totals/?day=${day}`);
    expect([status, body]).toEqual([200, { day, totals: [] }]);
  },
);

test('rules 26.9: without a day they are those of yesterday', async () => {
  const yesterday = () => new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10);
  const { merchant } = await createTestProject();
  const before = yesterday();
  const { status, body } = await merchant.send<{ day: string }>('GET', '/v1/reports/totals/');
  expect(status).toBe(200);
  // Midnight may have passed.
  expect([before, yesterday()]).toContain(body.day);
});

test.each(['?day=', '?day=2026-02-30', '?day=today', '?day=2026-1-5', '?day=2026-01-05&currency=EUR'])(
  'another query is a ValidationError: %s',
  async (query) => {
    const { merchant } = await createTestProject();
    const { status, body } = await merchant.send<{ error: { type: string } }>('GET', `/v1/reports/totals/${query}`);
    expect([status, body.error.type]).toEqual([400, 'ValidationError']);
  },
);
