import { Merchant } from '../support/merchant';
import { refund } from '../support/merchant-payments';
import { postControl } from '../support/stack';
import { until } from '../support/waits';

const merchant = new Merchant();
afterEach(() => merchant.removeFaults());

/** The simulator settles what the order has moved; other tests' orders stay as they are. */
async function settle(order_id: string): Promise<void> {
  await postControl(merchant.stack, 'settlements', { order_id });
}

const untilSettled = (id: string) =>
  until(`order ${id} is settled`, async () => {
    const order = await merchant.getOrder(id);
    return order.transactions![0]!.settlement_amount !== undefined && order;
  });

/** The rows of the report, each with some of its columns. */
async function report(query: string, columns: readonly string[]): Promise<string[]> {
  const response = await fetch(`${merchant.stack.api_url}/v1/search/orders/?format=csv`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${merchant.api_key}:`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query, sort: 'created' }),
  });
  const [header = '', ...lines] = (await response.text()).trimEnd().split('\r\n');
  const places = columns.map((column) => header.split(',').indexOf(column));
  return lines.map((line) => places.map((place) => line.split(',')[place]).join(' '));
}

const COLUMNS = [
  'kind',
  'transaction.settlement_currency',
  'transaction.settlement_amount',
  'transaction.fee_currency',
  'transaction.fee_amount',
];

test('rules 20.19: a payment and its refund are settled: in JSON, in searches and in the report, with all else as it was', async () => {
  const paid = await merchant.paidOrder('approved', { amount: 10_000, description: 'settled books' });
  const refunded = (await refund(merchant, paid, { amount: 4_000 })).body;
  const before = await merchant.getOrder(paid.id);
  // The first answer about settlements is lost.
  await merchant.addFault({ operation: 'settlements', kind: 'lost_answer', times: 1 });
  await settle(paid.id);

  const order = await untilSettled(paid.id);
  const settlement = { settlement_currency: 'EUR', settlement_amount: 9_840, fee_currency: 'EUR', fee_amount: 160 };
  const modified = expect.any(String) as string;
  expect(order).toEqual({
    ...before,
    modified,
    transactions: [{ ...before.transactions![0], ...settlement, modified }],
  });
  const refund_order = await untilSettled(refunded.id);
  expect(refund_order.transactions).toMatchObject([{ settlement_amount: 4_000, credit_debit: 'debit' }]);
  expect(refund_order.transactions![0]).not.toHaveProperty('fee_amount');

  const query = `(id:${paid.id} OR id:${refunded.id}) transaction.settlement_amount:[40 TO 98.40]`;
  const rows = await until('the index has both', async () => {
    const found = await report(query, COLUMNS);
    return found.length === 2 && found;
  });
  expect(rows).toEqual(['payment EUR 98.40 EUR 1.60', 'refund EUR 40.00  ']);
});
