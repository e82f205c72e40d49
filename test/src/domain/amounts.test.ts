import { amountDetails } from '../../../src/domain/amounts';

const NOTHING = { capturable: 0, captured: 0, refundable: 0, refunded: 0, voidable: 0, voided: 0 };

test.each([
  ['no transaction', [], NOTHING],
  ['a sale that was declined', [{ captured_amount: 0 }], NOTHING],
  ['a sale of 2500', [{ captured_amount: 2_500 }], { ...NOTHING, captured: 2_500, refundable: 2_500 }],
  ['a decline, then a sale of the largest amount', [{ captured_amount: 0 }, { captured_amount: Number.MAX_SAFE_INTEGER }], { ...NOTHING, captured: Number.MAX_SAFE_INTEGER, refundable: Number.MAX_SAFE_INTEGER }],
])('%s', (_title, transactions, details) => {
  expect(amountDetails(transactions)).toEqual(details);
});
