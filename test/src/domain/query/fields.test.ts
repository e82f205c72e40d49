import { SEARCH_FIELD_NAMES, isFieldName, isOfTransaction, parseSort } from '../../../../src/domain/query/fields';

it("begins with the specification's columns, in its order", () => {
  expect(SEARCH_FIELD_NAMES.slice(0, 21)).toEqual([
    ...['id', 'merchant_order_id', 'created', 'completed', 'currency', 'amount', 'status', 'transaction.id'],
    ...['transaction.status', 'transaction.payment_method', 'transaction.payment_method_brand'],
    ...['transaction.amount_with_decimals', 'transaction.refund_of_transaction_id'],
    ...['transaction.payment_method_details.truncated_pan', 'transaction.settlement_currency'],
    ...['transaction.settlement_amount', 'transaction.fee_currency', 'transaction.fee_amount'],
    ...['customer.merchant_customer_id', 'merchant_id', 'project_id'],
  ]);
});

it('knows its fields by name, and no property of every object', () => {
  expect(['status', 'toString', '__proto__', 'Status'].map(isFieldName)).toEqual([true, false, false, false]);
  expect(SEARCH_FIELD_NAMES.filter(isOfTransaction)).toHaveLength(17);
});

test.each([
  ['created desc', { field: 'created', direction: 'desc' }],
  ['transaction.amount', { field: 'transaction.amount', direction: 'asc' }],
  [' amount  asc ', { field: 'amount', direction: 'asc' }],
  ['status', undefined],
  ['created DESC', undefined],
  ['created desc, amount', undefined],
  ['', undefined],
])('sort %p', (text, sort) => {
  expect(parseSort(text)).toEqual(sort);
});
