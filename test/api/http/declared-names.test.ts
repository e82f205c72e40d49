import { declaredNames } from '../../../api/http/declared-names';
import document from '../../../api/openapi.json';

const names = declaredNames(document);

test.each([
  ['amount', 'amount'],
  ['customer.secret.city', 'customer'],
  ['customer.city', 'customer.city'],
  ['transactions.0.payment_method_details.vault_token', 'transactions.0.payment_method_details.vault_token'],
  ['customer.phone_numbers.2', 'customer.phone_numbers.2'],
  ['Idempotency-Key', 'Idempotency-Key'],
  ['order_id', 'order_id'],
  ['fields[]', 'fields[]'],
  // From here on names of clients.
  ['extra.secret.amount', 'extra'],
  ['extra.123', 'extra'],
  ['order_lines.0.secret', 'order_lines.0'],
  ['transactions.41111111', 'transactions'],
  ['secret', undefined],
  ['constructor', undefined],
  ['123', undefined],
  ['', undefined],
])('rules 25.2: of the path %s the API defines %s', (path, declared) => {
  expect(names.declaredPart(path)).toBe(declared);
});
