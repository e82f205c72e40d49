import { linkPagePath, orderPagePath } from '../../../src/domain/page-paths';

test('an order, each of its transactions and a payment link have a page of their own', () => {
  expect([orderPagePath('o'), orderPagePath('o', 't'), linkPagePath('l')]).toEqual([
    '/pay/o/',
    '/pay/o/t/',
    '/paymentlinks/l/',
  ]);
});
