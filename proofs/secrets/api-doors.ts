import { CUSTOMER } from '../../test/support/domain';
import type { RunningStack } from '../../test/support/stack';
import type { Door } from './door';
import { inGroups } from './secrets';

/** Objects that requests are about. */
export interface Objects {
  order_id: string;
  /** An authorization. */
  held: { id: string; transaction_id: string };
  link_id: string;
}

/** Every text field of a new order, and names that clients make up. */
const ORDER_FIELDS = [
  ...['merchant_order_id', 'description', 'expiration_period', 'return_url', 'failure_url', 'webhook_url', 'locale'],
  ...['currency', 'amount', 'payment_methods.0', 'client.a', 'extra.a.b.0.c', 'order_lines.0.a', 'card_number', 'x.y'],
  ...['merchant_customer_id', 'email_address', 'first_name', 'last_name', 'address_type', 'address', 'postal_code'].map(
    inCustomer,
  ),
  ...['city', 'state', 'country', 'locale', 'phone_numbers.0', 'ip_address', 'card'].map(inCustomer),
  ...['payment_method', 'capture_mode', 'expiration_period', 'number', 'pan'].map((name) => `transactions.0.${name}`),
  ...['vault_token', 'number', 'card_number', 'receiver_account_number_type', 'cardholder_name', 'security_code'].map(
    (name) => `transactions.0.payment_method_details.${name}`,
  ),
];
const LINK_FIELDS = ['merchant_order_id', 'description', 'return_url', 'webhook_url', 'expiration_period', 'x'];

function inCustomer(name: string): string {
  return `customer.${name}`;
}

/** The object with a value at a dotted path; numbers are places in lists. */
export function withField(object: object, path: string, value: unknown): object {
  const copy = structuredClone(object) as Record<string, unknown>;
  let place: Record<string, unknown> = copy;
  const names = path.split('.');
  for (const [n, name] of names.slice(0, -1).entries()) {
    place[name] ??= /^\d+$/.test(names[n + 1]!) ? [] : {};
    place = place[name] as Record<string, unknown>;
  }
  place[names.at(-1)!] = value;
  return copy;
}

const ORDER = { currency: 'EUR', amount: 1_250 };
const LINK = { ...ORDER, merchant_order_id: 'L-1' };

/** Doors of the merchant's API. */
export function apiDoors(stack: RunningStack, { order_id, held, link_id }: Objects): Door[] {
  const authorization = `Basic ${Buffer.from(`${stack.test_api_key}:`).toString('base64')}`;
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(stack.api_url + path, {
      method,
      redirect: 'manual',
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const valueOf = (field: string, written: string) =>
    field.endsWith('_url') ? `https://shop.example/?card=${encodeURIComponent(written)}` : written;
  const inBody = (name: string, method: string, path: string, body: object, fields: string[]): Door[] =>
    fields.map((field) => ({
      name: `${name}: ${field}`,
      kind: 'refused',
      send: (_card, written) => call(method, path, withField(body, field, valueOf(field, written))),
    }));
  const order = `/v1/orders/${order_id}/`;
  const transaction = `/v1/orders/${held.id}/transactions/${held.transaction_id}/`;
  const header = (name: string, kind: Door['kind']): Door => ({
    name: `header ${name}`,
    kind,
    send: ({ number }) => call('POST', '/v1/orders/', { ...ORDER, amount: -1 }, { [name]: number }),
  });
  return [
    ...inBody('new order', 'POST', '/v1/orders/', ORDER, ORDER_FIELDS),
    ...inBody('new link', 'POST', '/v1/paymentlinks/', LINK, LINK_FIELDS),
    ...inBody('change of an order', 'PUT', order, {}, [
      'description',
      'merchant_order_id',
      'customer.last_name',
      'extra.a',
      'x',
    ]),
    ...inBody('refund', 'POST', `${order}refunds/`, { amount: 1 }, [
      'description',
      'merchant_order_id',
      'extra.a',
      'x',
    ]),
    ...inBody('capture', 'POST', `${transaction}captures/`, {}, ['x']),
    ...inBody('capture of a part', 'POST', `${transaction}captures/amount/`, { amount: 1 }, ['description', 'amount']),
    ...inBody('void', 'POST', `${transaction}voids/`, {}, ['x']),
    ...inBody('void of a part', 'POST', `${transaction}voids/amount/`, { amount: 1 }, ['description']),
    ...inBody('clock', 'POST', `${order}test-clock/`, {}, ['advance', 'to', 'x']),
    ...inBody('clock of a link', 'POST', `/v1/paymentlinks/${link_id}/test-clock/`, {}, ['advance', 'to']),
    ...inBody('search', 'POST', '/v1/search/orders/', { query: '*' }, ['query', 'sort', 'search_after', 'size', 'x']),
    {
      name: 'new order: a name of a field',
      kind: 'refused',
      send: (_card, written) => call('POST', '/v1/orders/', { ...ORDER, extra: { [written]: 1 } }),
    },
    {
      name: 'new order: a number',
      kind: 'refused',
      send: ({ number }) => call('POST', '/v1/orders/', `{"currency":"EUR","amount":1,"extra":{"a":[${number}]}}`),
    },
    {
      name: 'new order: groups in a list',
      kind: 'refused',
      send: ({ number }) => call('POST', '/v1/orders/', { ...ORDER, extra: { a: inGroups(number, ' ').split(' ') } }),
    },
    {
      name: 'new order: invalid JSON',
      kind: 'refused',
      send: (_card, written) => call('POST', '/v1/orders/', `{"currency": "EUR", "pan": ${written}x`),
    },
    { name: 'new order: no JSON', kind: 'refused', send: (_card, written) => call('POST', '/v1/orders/', written) },
    {
      name: 'new order: a form',
      kind: 'refused',
      send: (_card, written) =>
        call('POST', '/v1/orders/', `number=${written}`, { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    {
      name: 'new order: receiver_account_number',
      kind: 'right',
      send: ({ number }) =>
        call('POST', '/v1/orders/', {
          ...ORDER,
          customer: CUSTOMER,
          transactions: [
            {
              payment_method: 'credit-card',
              payment_method_details: { receiver_account_number: number, receiver_account_number_type: 'card-account' },
            },
          ],
        }),
    },
    ...[
      '/v1/orders/?created_since=',
      '/v1/orders/?card=',
      `${order}timeline/?cursor=`,
      `${order}webhooks/?before=`,
      `${order}requests/?cursor=`,
      '/v1/requests/?since=',
      '/v1/requests/?card=',
    ].map((path): Door => ({
      name: `query ${path}`,
      kind: 'refused',
      send: (_card, written) => call('GET', path + encodeURIComponent(written)),
    })),
    {
      name: 'query of an order',
      kind: 'refused',
      send: (_card, written) => call('GET', `${order}?fields=${encodeURIComponent(written)}`),
    },
    ...['/v1/orders/', `/v1/paymentlinks/`, '/v1/requests/', '/v1/', '/', `${transaction}`, '/docs/'].map(
      (path): Door => ({
        name: `path ${path}`,
        kind: 'refused',
        send: (_card, written) => call('GET', `${path}${encodeURIComponent(written)}/`),
      }),
    ),
    header('Idempotency-Key', 'refused'),
    ...[
      'User-Agent',
      'Referer',
      'X-Request-Id',
      'If-Match',
      'Cookie',
      'Accept-Language',
      'X-Forwarded-For',
      'X-Card',
      'Content-Language',
    ].map((name) => header(name, 'other')),
    {
      name: 'API key',
      kind: 'refused',
      send: ({ number }) =>
        call('GET', order, undefined, { authorization: `Basic ${Buffer.from(`${number}:`).toString('base64')}` }),
    },
    {
      name: 'password of an API key',
      kind: 'refused',
      send: ({ number }) =>
        call('GET', order, undefined, {
          authorization: `Basic ${Buffer.from(`${stack.test_api_key}:${number}`).toString('base64')}`,
        }),
    },
    {
      name: 'Authorization without a scheme',
      kind: 'refused',
      send: ({ number }) => call('GET', order, undefined, { authorization: number }),
    },
    {
      name: 'notification of the processor',
      kind: 'refused',
      send: (_card, written) => call('POST', '/processor/notifications/', { type: written, operation: { a: written } }),
    },
  ];
}
