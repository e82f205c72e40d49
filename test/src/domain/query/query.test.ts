import { parseQuery } from '../../../../src/domain/query/parse';
import { conditionsOf, matches, type SearchQuery, type SearchRow } from '../../../../src/domain/query/query';

const NOON = Date.UTC(2026, 0, 15, 12);
const ROW: SearchRow = {
  status: 'completed',
  merchant_order_id: 'a-1001',
  currency: 'eur',
  amount: 1_250,
  created: NOON,
  flags: ['is-test', 'has-refunds'],
  'transaction.status': ['error', 'declined'],
  'customer.email_address': '',
  words: ['a', '1001', 'two', 'books'],
};

function read(text: string): SearchQuery {
  const parsed = parseQuery(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.query;
}

test.each([
  ['*', true],
  ['status:completed', true],
  ['status:new', false],
  ['status:new OR amount:1250', true],
  ['status:completed amount:1251', false],
  ['NOT status:new', true],
  ['merchant_order_id:A-10*', true],
  ['merchant_order_id:1001*', false],
  ['completed:', true],
  ['status:', false],
  // Empty is not absent.
  ['customer.email_address:', false],
  ['customer.email_address:""', true],
  ['customer.last_name:""', false],
  ['flags:is-test flags:has-refunds', true],
  ['flags:is-refund', false],
  ['flags:has*', true],
  // A decline is found by both words.
  ['transaction.status:error transaction.status:declined', true],
  ['amount:[1250 TO 1250]', true],
  ['amount:{1250 TO *]', false],
  ['amount:[* TO 1250}', false],
  ['created:2026-01-15', true],
  ['created:{2026-01-15 TO *]', false],
  ['created:[2026-01-15T12:00:00Z TO *]', true],
  // What is absent is in no range.
  ['completed:[* TO 2030-01-01]', false],
  ['NOT completed:[* TO 2030-01-01]', true],
  ['BOOKS two', true],
  ['boo*', true],
  ['book', false],
])('%s: %s', (text, expected) => {
  expect(matches(read(text), ROW)).toBe(expected);
});

it('lists the conditions of a query', () => {
  const fields = conditionsOf(read('status:new OR NOT (created: AND transaction.id:0*) book')).map(
    ({ field }) => field,
  );
  expect(fields).toEqual(['status', 'created', 'transaction.id', 'words']);
});
