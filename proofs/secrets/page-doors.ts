import { CARD, Client } from '../../test/support/customer';
import { Merchant } from '../../test/support/merchant';
import type { RunningStack } from '../../test/support/stack';
import type { Door } from './door';

/** Doors of the hosted pages: of orders of a test and a live project, and of payment links. */
export function pageDoors(stack: RunningStack): Door[] {
  const test = new Merchant(stack);
  const live = new Merchant(stack, stack.live_api_key);
  const orderPage = (merchant: Merchant) => async () => `/pay/${(await merchant.createOrder()).id}/`;
  const linkPage = async () => `/paymentlinks/${(await test.createPaymentLink()).id}/`;
  /** Opens a page of its own and sends one of its forms. */
  const form = async (
    makePage: () => Promise<string>,
    fields: Record<string, string>,
    { below = '', headers = {}, query = '' }: { below?: string; headers?: Record<string, string>; query?: string } = {},
  ) => {
    const page = await makePage();
    const customer = new Client(stack.api_url);
    const hidden = await customer.openPage({ id: '' }, page);
    return await customer.postForm(`${page}${below}${query}`, { ...CARD, ...hidden, ...fields }, headers);
  };
  /** The simulator refuses a number that is in none of its tables to a test project; a live one takes it. */
  const right = (name: string, makePage: () => Promise<string>, headers = {}): Door => ({
    name,
    kind: 'right',
    send: ({ number, security_code }, written) =>
      form(makePage, { number: /^[\d -]+$/.test(written) ? written : number, security_code }, { headers }),
  });
  const wrong = (name: string, fields: string[], makePage: () => Promise<string>, below = ''): Door[] =>
    fields.map((field) => ({
      name: `${name}: ${field}`,
      kind: 'other',
      send: ({ security_code }, written) => form(makePage, { security_code, [field]: written }, { below }),
    }));
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(stack.api_url + path, { redirect: 'manual', headers });
  return [
    right('page of a test order', orderPage(test)),
    right('page of a live order', orderPage(live)),
    right('page of a link', linkPage),
    right('page of a live order, as JSON', orderPage(live), { accept: 'application/json' }),
    ...wrong(
      'page of an order',
      ['cardholder_name', 'card_expiry', 'security_code', 'token', 'attempt', 'x'],
      orderPage(live),
    ),
    ...wrong('page of a link', ['cardholder_name', 'card_expiry', 'x'], linkPage),
    ...wrong('wallet of an order', ['payment_method', 'number', 'x'], orderPage(test), 'wallet/'),
    ...wrong('cancel of an order', ['x'], orderPage(test), 'cancel/'),
    {
      name: 'page of an order: the code in the query',
      kind: 'other',
      send: ({ number, security_code }) =>
        form(orderPage(live), { number, security_code }, { query: `?number=${number}&security_code=${security_code}` }),
    },
    {
      name: 'page of an order: an expired card',
      kind: 'other',
      send: ({ number, security_code }) => form(orderPage(live), { number, security_code, card_expiry: '01 / 20' }),
    },
    {
      name: 'page of an order: the form as JSON',
      kind: 'other',
      send: async ({ number, security_code }) =>
        fetch(stack.api_url + (await orderPage(live)()), {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ number, security_code }),
        }),
    },
    { name: 'path of a page', kind: 'refused', send: (_card, written) => get(`/pay/${encodeURIComponent(written)}/`) },
    {
      name: 'path of a link',
      kind: 'refused',
      send: (_card, written) => get(`/paymentlinks/${encodeURIComponent(written)}/`),
    },
    {
      name: 'path below a page',
      kind: 'refused',
      send: async (_card, written) => get(`${await orderPage(test)()}${encodeURIComponent(written)}/`),
    },
    {
      name: 'query of a page',
      kind: 'other',
      send: async (_card, written) => get(`${await orderPage(test)()}?number=${encodeURIComponent(written)}`),
    },
    {
      name: 'cookie of a page',
      kind: 'other',
      send: async ({ number }) => get(await orderPage(test)(), { cookie: `pan=${number}; attempt=${number}` }),
    },
  ];
}
