import { statementName } from '../../../src/tracing/statements';

test.each([
  [{ name: 'move order', text: 'with locked as (select 1) …' }, 'move order'],
  ['BEGIN;', 'BEGIN'],
  ['set local statement_timeout = 5000', 'SET'],
  ['select id, status from orders where id = $1', 'SELECT orders'],
  ['select o.id from "orders" o for update', 'SELECT orders'],
  ['select extract(epoch from d.created) from webhook_deliveries d', 'SELECT webhook_deliveries'],
  [`insert into "api_keys" (hash) values ('secret')`, 'INSERT api_keys'],
  ['with a as (insert into t (x) select 1 returning x) update u set y = 1 from a', 'INSERT t'],
  ['with locked as (select 1 from orders for update) update payment_links set status = $1', 'UPDATE payment_links'],
  [{ text: 'delete from request_claims where created < $1' }, 'DELETE request_claims'],
  ['', 'statement'],
] as const)('rules 24.16: the span of %j is named %s', (statement, name) => {
  expect(statementName(statement)).toBe(name);
});
