import { randomUUID } from 'node:crypto';
import express from 'express';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { createPages, type PageRates } from '../../../api/page';
import { LANGUAGES } from '../../../api/page/languages';
import { connectDatabase } from '../../../src/db/connection';
import type { Database } from '../../../src/db/query';
import { ServiceError } from '../../../src/errors';
import { createProcessorClient, type Processor } from '../../../src/processor/client';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { orderWorkflowId } from '../../../workflows/messages';
import { CARD, Client, createPageOrder, hidden, orderAsMerchant, readStatuses } from '../../support/customer';
import { CARDS } from '../../support/domain';
import { readLedger } from '../../support/ledger';
import { Merchant, newIdempotencyKey } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { NOBODY } from '../../support/shapes';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

/** The hosted page as plain HTTP, above all what it refuses. */

async function opened(fields: Record<string, unknown> = {}) {
  const order = await createPageOrder(fields);
  const client = new Client();
  return { order, client, path: `/pay/${order.id}/`, form: { ...CARD, ...(await client.openPage(order)) } };
}

describe('a page', () => {
  test.each([
    '/pay/',
    '/pay/nothing/',
    `/pay/${NOBODY}/`,
    `/pay/${NOBODY}`,
    `/pay/${NOBODY}/${NOBODY}/`,
    `/pay/${NOBODY}/a/b/`,
  ])('%s is a 404 page', async (path) => {
    const response = await new Client().send(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await response.text()).toContain('Page not found');
  });

  test.each(['..%2f..%2fx/cancel', '..%2f..%2fx/wallet', '..%2f..%2fx', 'x%0d%0ay/wallet', `${NOBODY}%2f/cancel`])(
    'rules 12.13: /pay/%s is a 404 page for every method, and leads nowhere',
    async (path) => {
      for (const method of ['GET', 'POST', 'PUT']) {
        const { status, headers } = await new Client().send(`/pay/${path}`, { method });
        expect([method, status, headers.get('location')]).toEqual([method, 404, null]);
      }
    },
  );

  test('rules 12.1: is there with and without trailing slash, by order and by transaction, in capitals too', async () => {
    const order = await createPageOrder({ transactions: [{ payment_method: 'credit-card' }] });
    const { id } = order.transactions![0]!;
    for (const path of [
      `/pay/${order.id}`,
      `/pay/${order.id}/`,
      `/pay/${order.id}/${id}`,
      `/pay/${order.id}/${id}/`,
      `/pay/${order.id.toUpperCase()}/${id.toUpperCase()}/`,
    ]) {
      const response = await new Client().send(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(await response.text()).toContain(`action="/pay/${order.id}/"`);
    }
    // A failover may have lost a transaction: its page shows the order.
    const without = await new Client().send(`/pay/${order.id}/${NOBODY}/?from=issuer`);
    expect([without.status, await without.text()]).toEqual([
      200,
      expect.stringContaining(`action="/pay/${order.id}/"`),
    ]);
  });

  test('rules 19.13: says by its headers that nothing may be kept, framed or loaded from elsewhere; its cookie lasts a day', async () => {
    const order = await createPageOrder();
    const { headers } = await new Client().send(`/pay/${order.id}/`);
    expect(headers.get('content-security-policy')?.split(';')).toEqual([
      "default-src 'none'",
      "style-src 'self'",
      "script-src 'self'",
      "img-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "form-action 'self' https: http:",
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('set-cookie')).toMatch(
      /; Max-Age=86400; Path=\/pay\/[0-9a-f-]{36}; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
  });

  test('rules 12.14: loads a style sheet and a script that may be kept for ever', async () => {
    const { client, path } = await opened();
    const html = await (await client.send(path)).text();
    const assets = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, asset]) => asset!);
    expect(assets).toHaveLength(3);
    for (const asset of assets) {
      const response = await client.send(asset);
      expect([response.status, response.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
    expect(html).not.toMatch(/<style|\sstyle="|<script>|\son[a-z]+="/);
    // Of a page that a process of another release has made.
    const [of_other_release, of_nobody] = await Promise.all(
      ['/assets/0123456789abcdef.css', '/assets/0123456789abcdef.png'].map((asset) => client.send(asset)),
    );
    expect([of_other_release!.headers.get('content-type'), of_other_release!.headers.get('cache-control')]).toEqual([
      'text/css; charset=utf-8',
      'no-store',
    ]);
    expect(of_nobody!.status).toBe(404);
  });

  test('shows what merchants and customers wrote as text', async () => {
    const { client, path } = await opened({
      description: '<script>alert(1)</script>',
      merchant_order_id: '"><img src=x>',
    });
    const html = await (await client.send(path)).text();
    expect(html).toContain('&lt;script>alert(1)');
    expect(html).not.toMatch(/<script>|<img/);
  });

  test.each([
    ['PUT', '', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', 'cancel/', 'GET, HEAD, POST, OPTIONS'],
    ['PUT', 'wallet/', 'GET, HEAD, POST, OPTIONS'],
    ['POST', `${NOBODY}/`, 'GET, HEAD, OPTIONS'],
  ])(
    'answers %s on /pay/…/%s with a 405 page, OPTIONS with the methods there are: %s',
    async (method, rest, methods) => {
      const path = `/pay/${NOBODY}/${rest}`;
      const response = await new Client().send(path, { method });
      expect([response.status, response.headers.get('content-type'), response.headers.get('allow')]).toEqual([
        405,
        'text/html; charset=utf-8',
        methods,
      ]);
      const options = await new Client().send(path, { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, methods, '']);
    },
  );
});

describe('the card form', () => {
  test('rules 12.4: an approved card leads to the return address with order_id and project_id', async () => {
    const { order, client, path, form } = await opened({ return_url: 'https://shop.example/done?cart=7#top' });
    const response = await client.payWithForm(path, form);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(
      `https://shop.example/done?cart=7&order_id=${order.id}&project_id=${order.project_id}#top`,
    );
    expect(await readStatuses(order.id)).toBe('completed: accepted');
    // The page of a paid order says so and offers the way back.
    const html = await (await client.send(path)).text();
    expect(html).toContain('Payment completed');
    expect(html).toContain('Visa ending in 1111');
    expect(html).toContain('href="https://shop.example/done?cart=7&amp;order_id=');
  });

  test('rules 6.5 and 12.5: a decline says so and offers the next attempt', async () => {
    const { order, client, path, form } = await opened({ return_url: 'https://shop.example/' });
    const response = await client.postForm(path, { ...form, number: CARDS.insufficient_funds.number });
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html).toContain('Your card was declined');
    expect(html).toContain('There is not enough money on this card');
    expect(html).toContain('You can try 4 more times.');
    expect(hidden(html, 'attempt')).toBe('2');
    // The payment_url of the first attempt shows the second one.
    const [first] = (await orderAsMerchant(order.id)).transactions!;
    expect(hidden(await (await client.send(`${path}${first!.id}/`)).text(), 'attempt')).toBe('2');
    expect((await client.postForm(path, { ...form, attempt: '2' })).headers.get('location')).toMatch(
      /^https:\/\/shop\.example\/\?order_id=/,
    );
    expect(await readStatuses(order.id)).toBe('completed: error accepted');
    expect((await orderAsMerchant(order.id)).transactions).toMatchObject([
      { outcomes: { processing: { response_code: '51' } } },
      { outcomes: { processing: { response_code: '00' } }, events: [{ event: 'new', source: 'customer' }, {}] },
    ]);
  });

  test('rules 6.3: the fifth decline ends the order: on to the failure address', async () => {
    const { order, client, path, form } = await opened({
      return_url: 'https://shop.example/',
      failure_url: 'https://shop.example/failed',
    });
    for (const attempt of ['1', '2', '3', '4']) {
      const response = await client.postForm(path, { ...form, attempt, number: CARDS.do_not_honor.number });
      expect([attempt, response.status]).toEqual([attempt, 200]);
    }
    const last = await client.payWithForm(path, { ...form, attempt: '5', number: CARDS.do_not_honor.number });
    expect([last.status, last.headers.get('location')]).toEqual([
      303,
      `https://shop.example/failed?order_id=${order.id}&project_id=${order.project_id}`,
    ]);
    const html = await (await client.send(path)).text();
    expect(html).toContain('no further try is left');
    expect(html).not.toContain('cc-number');
  });

  test('rules 6.3 and 12.5: a form of an attempt that was made shows the order as it is, and charges nothing', async () => {
    const { order, client, path, form } = await opened();
    await client.postForm(path, { ...form, number: CARDS.do_not_honor.number });
    const response = await client.postForm(path, form);
    const html = await response.text();
    expect(html).toContain('declined');
    expect(hidden(html, 'attempt')).toBe('2');
    expect(await readStatuses(order.id)).toBe('processing: error');
    expect(await readLedger(order.id)).toHaveLength(1);
  });

  test('rules 12.5: wrong fields are told by the field, with the name kept and never number or code', async () => {
    const { order, client, path, form } = await opened();
    const response = await client.postForm(path, {
      ...form,
      number: '5544330000000038',
      card_expiry: '01/20',
      security_code: '98765',
    });
    const html = await response.text();
    expect(response.status).toBe(400);
    expect(html).toMatch(/<input id="number"[^>]* aria-invalid="true" aria-describedby="number-wrong"/);
    expect(html).toMatch(/<input id="card_expiry"[^>]* aria-describedby="card_expiry-hint card_expiry-wrong"/);
    expect(html).toContain('value="Ada Lovelace"');
    expect(html).not.toMatch(/5544330000000038|98765/);
    expect(html).toMatch(/<title>Error: /);
    expect(await readStatuses(order.id)).toBe('new:');
  });

  test('rules 16.3: a test card declines on a live project, where no table of test cards is shown', async () => {
    const order = await createPageOrder({}, stack().live_api_key);
    const client = new Client();
    const page = await (await client.send(`/pay/${order.id}/?card=approved`)).text();
    expect(page).not.toMatch(/Test cards|4111 ?1111/);
    const form = { ...CARD, token: hidden(page, 'token'), attempt: '1' };
    expect(await (await client.postForm(`/pay/${order.id}/`, form)).text()).toContain('declined');
  });
});

/** What of the page's ways to pay is in its HTML, in their order. */
const waysIn = (html: string) =>
  [...html.matchAll(/name="payment_method" value="([^"]+)"|autocomplete="(cc-number)"/g)].map(
    ([, wallet, card]) => wallet ?? (card && 'credit-card'),
  );
const methodsOf = async (id: string) =>
  (await orderAsMerchant(id)).transactions?.map(({ payment_method }) => payment_method);

describe('the ways to pay', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['all of the project', {}, ['apple-pay', 'google-pay', 'credit-card']],
    ['wallets only', { payment_methods: ['apple-pay', 'google-pay'] }, ['apple-pay', 'google-pay']],
    ['card only', { payment_methods: ['credit-card'] }, ['credit-card']],
  ])('rules 5.10 and 6.1: are %s: %j', async (_title, fields, ways) => {
    const { client, path } = await opened(fields);
    const html = await (await client.send(path)).text();
    expect(waysIn(html)).toEqual(ways);
    expect(html.includes('Pay by card')).toBe(ways.includes('credit-card'));
    expect(html.includes('Test cards')).toBe(ways.includes('credit-card'));
    expect(html.match(/Simulated</g) ?? []).toHaveLength(ways.filter((way) => way !== 'credit-card').length);
    expect(html.includes('no card of yours is used')).toBe(ways.some((way) => way !== 'credit-card'));
  });

  test('rules 5.10: of a project without wallets are cards, of one whose methods the page cannot take none', async () => {
    const shown = async (payment_methods: string[]) => {
      const { merchant } = await createTestProject({ payment_methods });
      return await (await new Client().send(`/pay/${(await merchant.createOrder()).id}/`)).text();
    };
    expect(waysIn(await shown(['credit-card']))).toEqual(['credit-card']);
    const none = await shown(['bank-transfer']);
    expect(waysIn(none)).toEqual([]);
    expect(none).toContain('There is no way to pay here');
    expect(none).toContain('Cancel and do not pay');
  });

  test('rules 6.4: after a decline are those of the first attempt where the merchant announced none', async () => {
    const { order, client, path, form } = await opened();
    const html = await (await client.postForm(path, { ...form, number: CARDS.do_not_honor.number })).text();
    expect(waysIn(html)).toEqual(['apple-pay', 'google-pay', 'credit-card']);
    const paid = await client.postForm(`${path}wallet/`, { ...form, attempt: '2', payment_method: 'google-pay' });
    expect(await paid.text()).toContain('Google Pay, Mastercard ending in');
    expect([await readStatuses(order.id), await methodsOf(order.id)]).toEqual([
      'completed: error accepted',
      ['credit-card', 'google-pay'],
    ]);
  });
});

describe('the button of a wallet', () => {
  const press = (
    opened: { client: Client; path: string; form: Record<string, string> },
    fields: Record<string, string> = {},
  ) =>
    opened.client.postForm(`${opened.path}wallet/`, {
      token: opened.form['token']!,
      attempt: opened.form['attempt']!,
      payment_method: 'apple-pay',
      ...fields,
    });

  test('rules 12.5: pressed four times beside the card form in another tab, and again: one of them pays, once', async () => {
    const page = await opened();
    const answers = await Promise.all([
      ...[1, 2, 3, 4].map(() => press(page)),
      page.client.postForm(page.path, page.form),
    ]);
    answers.push(await press(page));
    for (const answer of answers) expect(await answer.text()).toContain('Payment completed');
    expect(await readStatuses(page.order.id)).toBe('completed: accepted');
    expect(await readLedger(page.order.id)).toHaveLength(1);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['that the order does not name', { payment_methods: ['credit-card'] }, ''],
    ['beside the announced one', { transactions: [{ payment_method: 'credit-card' }] }, ' new'],
  ])('rules 12.8: %s charges nothing', async (_title, fields, statuses) => {
    const page = await opened(fields);
    expect(await (await press(page)).text()).toContain('Pay by card');
    expect([await readStatuses(page.order.id), await readLedger(page.order.id)]).toEqual([`new:${statuses}`, []]);
  });
});

test.each(['wallet/', 'cancel/'])('the address /pay/…/%s opens the order’s page', async (form) => {
  const { client, path } = await opened();
  expect((await client.send(`${path}${form}`)).headers.get('location')).toBe(path);
});

test('rules 12.8: the card form charges nothing where the order is paid by wallet only', async () => {
  const { order, client, path, form } = await opened({ payment_methods: ['apple-pay'] });
  const html = await (await client.postForm(path, form)).text();
  expect(waysIn(html)).toEqual(['apple-pay']);
  expect([await readStatuses(order.id), await readLedger(order.id)]).toEqual(['new:', []]);
});

describe('rules 12.9: a program, which prefers JSON', () => {
  const PROGRAM = { accept: 'application/json' };
  const refusal = async (response: Response) => {
    expect([response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      'application/json',
      'no-store',
    ]);
    const { error } = (await response.json()) as {
      error: { status: number; type: string; value: string; property_path?: string };
    };
    expect(error.status).toBe(response.status);
    return [response.status, error.type, error.property_path];
  };

  test('is whoever prefers JSON to HTML by Accept', async () => {
    const { client, path, form } = await opened();
    const typeFor = async (accept: string) => {
      const { status, headers } = await client.postForm(path, { ...form, number: '' }, { accept });
      return [status, headers.get('content-type')];
    };
    for (const accept of ['application/json', 'application/json, text/html;q=0.9']) {
      expect([accept, ...(await typeFor(accept))]).toEqual([accept, 400, 'application/json']);
    }
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const accept of ['text/html, application/json;q=0.9', '*/*', browser]) {
      expect([accept, ...(await typeFor(accept))]).toEqual([accept, 400, 'text/html; charset=utf-8']);
    }
  });

  test('that pays is led on as a browser is, without a return address to the page; nothing of the order is told', async () => {
    const one = await opened({ return_url: 'https://shop.example/' });
    const back = await one.client.payWithForm(one.path, one.form, PROGRAM);
    expect([back.status, back.headers.get('location')]).toEqual([
      303,
      `https://shop.example/?order_id=${one.order.id}&project_id=${one.order.project_id}`,
    ]);
    const stays = await opened();
    const wallet = await stays.client.postForm(
      `${stays.path}wallet/`,
      { ...stays.form, payment_method: 'apple-pay' },
      PROGRAM,
    );
    expect([wallet.status, wallet.headers.get('location'), await wallet.text()]).toEqual([303, stays.path, '']);
    const declined = await opened({ return_url: 'https://shop.example/' });
    const page = await declined.client.postForm(
      declined.path,
      { ...declined.form, number: CARDS.do_not_honor.number },
      PROGRAM,
    );
    expect([page.status, page.headers.get('location')]).toEqual([303, declined.path]);
    expect(await Promise.all([one, stays, declined].map(({ order }) => readStatuses(order.id)))).toEqual([
      'completed: accepted',
      'completed: accepted',
      'processing: error',
    ]);
  });

  test('is told TransactionAlreadyStarted for an attempt that was made, by card or wallet, and for an order that is over', async () => {
    const page = await opened();
    const again = async () => [
      await refusal(await page.client.postForm(page.path, page.form, PROGRAM)),
      await refusal(
        await page.client.postForm(`${page.path}wallet/`, { ...page.form, payment_method: 'apple-pay' }, PROGRAM),
      ),
    ];
    const started = [409, 'TransactionAlreadyStarted', undefined];
    await page.client.postForm(page.path, { ...page.form, number: CARDS.do_not_honor.number }, PROGRAM);
    expect(await again()).toEqual([started, started]);
    await page.client.postForm(`${page.path}cancel/`, { token: page.form.token });
    expect(await again()).toEqual([started, started]);
    expect(await readLedger(page.order.id)).toHaveLength(1);
  });

  test('is told CanNotCancelTransaction where nothing is cancelled, and is led on where the order is cancelled already', async () => {
    const paid = await opened({ return_url: 'https://shop.example/' });
    await paid.client.payWithForm(paid.path, paid.form);
    const cancel = async ({ client, path, form }: typeof paid) =>
      await client.postForm(`${path}cancel/`, { token: form.token }, PROGRAM);
    const not_cancelled = [409, 'CanNotCancelTransaction', undefined];
    expect(await refusal(await cancel(paid))).toEqual(not_cancelled);
    const open = await opened();
    for (const time of [1, 2]) expect([time, (await cancel(open)).status]).toEqual([time, 303]);
    const link = await new Merchant().createPaymentLink();
    const path = new URL(link.payment_url).pathname;
    const client = new Client();
    const form = await client.openPage({ id: link.id }, path);
    expect(await refusal(await client.postForm(`${path}cancel/`, { token: form.token }, PROGRAM))).toEqual(
      not_cancelled,
    );
  });

  test('is told by a ValidationError what is wrong', async () => {
    const { order, client, path, form } = await opened({ payment_methods: ['credit-card', 'apple-pay'] });
    for (const [rest, fields, property_path] of [
      ['', { number: '4111111111111112', security_code: '' }, 'number'],
      ['', { card_expiry: '01/20' }, 'card_expiry'],
      ['', { attempt: '2' }, 'attempt'],
      ['', { attempt: 'x' }, 'attempt'],
      ['wallet/', { payment_method: 'credit-card' }, 'payment_method'],
      ['wallet/', { payment_method: 'google-pay' }, 'payment_method'],
    ] as const) {
      const response = await client.postForm(`${path}${rest}`, { ...form, ...fields }, PROGRAM);
      expect(await response.clone().text()).not.toContain('41111111');
      expect([fields, ...(await refusal(response))]).toEqual([fields, 400, 'ValidationError', property_path]);
    }
    expect(await readStatuses(order.id)).toBe('new:');
  });

  test('needs a form token like any other; its errors are JSON', async () => {
    const { order, client, path, form } = await opened();
    const nobody = `/pay/${NOBODY}/`;
    const long = { ...form, cardholder_name: 'x'.repeat(20_000) };
    const refused = [
      await client.postForm(path, { ...form, token: '' }, PROGRAM),
      await new Client().postForm(nobody, form, PROGRAM),
      await new Client().send(nobody, { headers: PROGRAM }),
      await client.send(path, { method: 'PUT', headers: PROGRAM }),
      await client.postForm(path, long, PROGRAM),
    ];
    expect(await Promise.all(refused.map(refusal))).toEqual([
      [403, 'Forbidden', undefined],
      [403, 'Forbidden', undefined],
      [404, 'NotFound', undefined],
      [405, 'MethodNotAllowed', undefined],
      [413, 'PayloadTooLarge', undefined],
    ]);
    expect(await readStatuses(order.id)).toBe('new:');
  });
});

describe('a forged form', () => {
  test.each<[string, (form: Record<string, string>) => [Client | undefined, Record<string, string>]]>([
    ['without token', (form) => [undefined, { ...form, token: '' }]],
    ['without cookie', (form) => [new Client(), form]],
    [
      'with a token of one’s own making',
      (form) => [undefined, { ...form, token: form['token']!.replace(/^.{8}/, '00000000') }],
    ],
  ])('%s is refused, and nothing happens', async (_title, forge) => {
    const { order, client, path, form } = await opened();
    const [other, fields] = forge(form);
    for (const target of [path, `${path}wallet/`, `${path}cancel/`]) {
      const response = await (other ?? client).postForm(target, { ...fields, payment_method: 'apple-pay' });
      expect([response.status, response.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
      const html = await response.text();
      expect(html).toContain('This form is no longer valid');
      expect(html).not.toContain(CARD.number);
    }
    expect(await readStatuses(order.id)).toBe('new:');
  });

  test('the token of one order is not good for another', async () => {
    const one = await opened();
    const other = await createPageOrder();
    expect((await one.client.postForm(`/pay/${other.id}/`, one.form)).status).toBe(403);
    expect(
      (await one.client.postForm(`/pay/${other.id}/wallet/`, { ...one.form, payment_method: 'apple-pay' })).status,
    ).toBe(403);
    expect(await readStatuses(other.id)).toBe('new:');
  });

  test('a cookie that somebody else signed is replaced, not used', async () => {
    const { order, path } = await opened();
    const page = await fetch(`${stack().api_url}${path}`, { headers: { cookie: 'pay=forged.forged' } });
    expect(hidden(await page.text(), 'token')).not.toBe('forged.forged');
    const refused = await fetch(`${stack().api_url}${path}`, {
      method: 'POST',
      headers: { cookie: 'pay=forged.forged' },
      body: new URLSearchParams({ ...CARD, token: 'forged.forged', attempt: '1' }),
    });
    expect(refused.status).toBe(403);
    expect(await readStatuses(order.id)).toBe('new:');
  });

  test('a body that is no form, or too large, is refused with a page', async () => {
    const { client, path, form } = await opened();
    const json = await client.send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(form),
    });
    expect(json.status).toBe(403);
    const large = await client.postForm(path, { ...form, cardholder_name: 'x'.repeat(20_000) });
    expect([large.status, large.headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
  });
});

describe('the cancel form', () => {
  test('rules 4.11: leads to the failure address, the second time too, and the event names the customer', async () => {
    const { order, client, path, form } = await opened({
      return_url: 'https://shop.example/',
      failure_url: 'https://shop.example/failed',
      transactions: [{ payment_method: 'credit-card' }],
    });
    for (const time of [1, 2]) {
      const response = await client.postForm(`${path}cancel/`, { token: form.token });
      expect([time, response.headers.get('location')]).toEqual([
        time,
        `https://shop.example/failed?order_id=${order.id}&project_id=${order.project_id}`,
      ]);
    }
    expect(await readStatuses(order.id)).toBe('cancelled: cancelled');
    const { events } = (await orderAsMerchant(order.id)).transactions![0]!;
    expect(events!.at(-1)).toMatchObject({ event: 'cancelled', source: 'customer' });
    expect((await client.postForm(path, form)).headers.get('location')).toMatch(/^https:\/\/shop\.example\/failed\?/);
    expect(await readLedger(order.id)).toEqual([]);
  });

  test('rules 10.10: while the processor does not answer, the customer at the issuer reads that nothing is cancelled', async () => {
    const { order, client, path, form } = await opened();
    await client.postForm(path, { ...form, number: CARDS.challenge.number });
    const merchant = new Merchant();
    await merchant.addFault({ operation: 'ask', order_id: order.id, kind: 'outage' });
    const cancel = (headers = {}) => client.postForm(`${path}cancel/`, { token: form.token }, headers);
    const kept = await cancel();
    const html = await kept.text();
    expect([kept.status, html]).toEqual([503, expect.stringContaining('Not cancelled yet')]);
    // Not led to the issuer, but offered to go there.
    expect(html).toContain(`content="10;url=${path}?waited=1"`);
    expect(html).toMatch(/href="[^"]+\/challenge\//);
    const told = await cancel({ accept: 'application/json' });
    expect([told.status, await told.json()]).toEqual([
      503,
      { error: expect.objectContaining({ type: 'ServerError', value: expect.stringContaining('not cancelled yet') }) },
    ]);
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const byMerchant = async () => (await merchant.send('DELETE', `/v1/orders/${order.id}/`, { headers })).status;
    expect([await byMerchant(), await byMerchant()]).toEqual([503, 503]);
    await merchant.removeFaults();
    expect(await byMerchant()).toBe(200);
    expect(await (await cancel()).text()).toContain('Payment cancelled');
    expect(await readStatuses(order.id)).toBe('cancelled: cancelled');
  });

  test('comes too late once the order is paid', async () => {
    const { order, client, path, form } = await opened();
    await client.postForm(path, form);
    expect(await (await client.postForm(`${path}cancel/`, { token: form.token })).text()).toContain(
      'Payment completed',
    );
    expect(await readStatuses(order.id)).toBe('completed: accepted');
  });
});

test('rules 12.12: a hundred loads of the address that the issuer sends its customer to add a few events to the history', async () => {
  const temporal = temporalOf();
  const { order, client, path, form } = await opened();
  const history = async () =>
    (await temporal.workflow.getHandle(orderWorkflowId(order.id)).fetchHistory()).events?.length ?? 0;
  await client.postForm(path, { ...form, number: CARDS.challenge.number });
  const transaction_id = (await orderAsMerchant(order.id)).transactions![0]!.id;
  const before = await history();
  const load = async () => (await client.send(`${path}${transaction_id}/?from=issuer`)).status;
  expect(new Set(await Promise.all(Array.from({ length: 100 }, load)))).toEqual(new Set([200]));
  expect((await history()) - before).toBeLessThan(25);
  expect(await readStatuses(order.id)).toBe('processing: pending');
  await temporal.connection.close();
});

test('rules 12.6: the form leads to the issuer at once, the Back button from there to the choice beside cancel', async () => {
  const { client, path, form } = await opened();
  const sent = await (await client.postForm(path, { ...form, number: CARDS.challenge.number })).text();
  expect(sent).toMatch(/content="0;url=[^"]+\/challenge\//);
  const back = await (await client.send(path)).text();
  expect(back).toMatch(/href="[^"]+\/challenge\//);
  expect(back).toContain(`action="${path}cancel/"`);
  expect(back).not.toContain('content="0;');
});

/** An order of this test that its customer cancelled in another tab while at the issuer. */
async function cancelledAtTheIssuer(fields: Record<string, unknown> = {}) {
  const page = await opened(fields);
  await page.client.postForm(page.path, { ...page.form, number: CARDS.challenge.number });
  const issuer = (await page.client.issuerAt(page.path))!;
  await page.client.postForm(`${page.path}cancel/`, { token: page.form.token });
  expect(await readStatuses(page.order.id)).toBe('cancelled: cancelled');
  return { ...page, issuer };
}

test('rules 12.12: a customer who confirms at the issuer after the end reads that the money goes back, before the merchant’s page', async () => {
  const { client, issuer } = await cancelledAtTheIssuer({ failure_url: 'https://shop.example/failed' });
  const back = await client.answerIssuer(issuer, { code: '0101' });
  const html = await back.text();
  expect([back.status, html]).toEqual([200, expect.stringContaining('The payment is being given back')]);
  expect(html).toContain('href="https://shop.example/failed?order_id=');
});

test('rules 12.12: a customer whom the issuer refuses after the end goes on to the merchant', async () => {
  const { client, path, issuer } = await cancelledAtTheIssuer({ failure_url: 'https://shop.example/failed' });
  let back = await client.answerIssuer(issuer, { code: '3333' });
  // On a busy machine the answer of the processor may come after that of the page, which then loads itself again.
  await until('it leads on', async () => {
    if (back.status === 200) back = await client.send(`${path}?waited=1&from=issuer`);
    return back.status !== 200;
  });
  const address = expect.stringMatching(/^https:\/\/shop\.example\/failed\?/) as string;
  expect([back.status, back.headers.get('location')]).toEqual([303, address]);
});

test('rules 12.12: while the processor does not answer, a customer back from the issuer waits, and then reads of the late approval', async () => {
  const { order, client, path, issuer } = await cancelledAtTheIssuer({ failure_url: 'https://shop.example/failed' });
  const merchant = new Merchant();
  await merchant.addFault({ operation: 'ask', order_id: order.id, kind: 'outage' });
  const back = await client.answerIssuer(issuer, { code: '0101' });
  const html = await back.text();
  expect([back.status, html]).toEqual([200, expect.stringContaining('Your payment is being processed')]);
  expect(html).toContain(`content="2;url=${path}?waited=1&amp;from=issuer"`);
  const last = await (await client.send(`${path}?waited=28&from=issuer`)).text();
  expect(last).toContain('Your bank may still approve the payment');
  expect(last).not.toContain('Nothing was charged');
  await merchant.removeFaults();
  await until('the page tells of the late approval', async () =>
    (await (await client.send(`${path}?waited=2&from=issuer`)).text()).includes('The payment is being given back'),
  );
});

test('rules 12.12: confirmed at the issuer after the end, for another amount: the operator looks, and no page says that nothing was charged', async () => {
  const { order, client, path, issuer } = await cancelledAtTheIssuer({ failure_url: 'https://shop.example/failed' });
  const merchant = new Merchant();
  await merchant.addFault({ operation: 'ask', order_id: order.id, kind: 'altered', answer: { amount: 40 } });
  const back = await client.answerIssuer(issuer, { code: '0101' });
  expect([back.status, await back.text()]).toEqual([200, expect.stringContaining('Your payment is being processed')]);
  for (const address of [path, `${path}?waited=1`, `${path}?waited=28&from=issuer`]) {
    const html = await (await client.send(address)).text();
    expect(html).toContain('Your bank may still approve the payment');
    expect(html).not.toContain('Nothing was charged');
  }
  await merchant.removeFaults();
  await until('the processor corrects itself: it is given back', async () =>
    (await (await client.send(`${path}?waited=2&from=issuer`)).text()).includes('The payment is being given back'),
  );
});

describe('when a part of the service is away', () => {
  let db: Database;
  let client: ReturnType<typeof temporalOf>;
  const opening: { server: Server; processor: Processor }[] = [];

  beforeAll(() => {
    db = connectDatabase(stack().postgres_url, { pool_max: 2 });
    client = temporalOf();
  });
  afterAll(async () => {
    for (const { server, processor } of opening) {
      server.closeAllConnections();
      server.close();
      await processor.close();
    }
    await client.connection.close();
    await db.destroy();
  });

  /** The pages on a server of their own, with the processor or the deadline of the test's choice. */
  async function pages(options: {
    processor_url?: string;
    deadline_ms?: number;
    public_url?: string;
    rates?: PageRates;
    requireOpen?: () => void;
    page_secrets?: string[];
  }): Promise<{ url: string; lines: string[] }> {
    const lines: string[] = [];
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
    const processor = createProcessorClient({
      url: options.processor_url ?? stack().simulator_url,
      key: stack().processor_key,
      timeout_ms: 6_000,
      log,
    });
    const app = express();
    // As the API does: a payment form is claimed by it.
    app.use((_request, response, next) => {
      response.setHeader('X-Request-Id', randomUUID());
      next();
    });
    const { deadline_ms = 10_000, public_url = 'http://127.0.0.1' } = options;
    app.use(
      createPages({
        db,
        ...createWorkflowClients({ client, db }),
        processor,
        public_url,
        page_secrets: options.page_secrets ?? ['x'.repeat(32)],
        deadline_ms,
        log,
        rates: options.rates,
        intake: { requireOpen: options.requireOpen ?? (() => undefined) },
      }),
    );
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    opening.push({ server, processor });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lines };
  }

  test('rules 12.5: without the processor the page is there, without test cards, and paying can be tried again', async () => {
    const order = await createPageOrder();
    const { url, lines } = await pages({ processor_url: 'http://127.0.0.1:9' });
    const customer = new Client(url);
    const response = await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
    const html = await response.text();
    expect(response.status).toBe(504);
    expect(html).toContain('This try was not sent');
    // Another submission of this attempt may be on its way.
    expect(html).not.toContain('Nothing was charged');
    expect(html).toContain('value="Ada Lovelace"');
    const pressed = await customer.postForm(`/pay/${order.id}/wallet/`, {
      ...(await customer.openPage(order)),
      payment_method: 'apple-pay',
    });
    expect([pressed.status, await pressed.text()]).toEqual([504, expect.stringContaining('This try was not sent')]);
    expect(hidden(html, 'attempt')).toBe('1');
    expect(await readStatuses(order.id)).toBe('new:');
    // A test card whose check digit is wrong: only the processor could tell.
    const told = await customer.postForm(
      `/pay/${order.id}/`,
      { ...CARD, number: CARDS.do_not_honor.number, ...(await customer.openPage(order)) },
      { accept: 'application/json' },
    );
    expect([told.status, ((await told.json()) as { error: { type: string } }).error.type]).toEqual([
      504,
      'ServerError',
    ]);
    expect(lines.length).toBeGreaterThan(0);
    expect(`${html}${lines.join('')}`).not.toMatch(/41111111|"123"/);
  });

  test('rules 12.5: while the charge of another tab is under way nobody is told that nothing was charged', async () => {
    const order = await createPageOrder();
    const slow = { operation: 'sale', order_id: order.id, kind: 'latency', milliseconds: 3_000, times: 1 } as const;
    const fault = await new Merchant().addFault(slow);
    const { url } = await pages({ processor_url: 'http://127.0.0.1:9' });
    const [first, second] = [new Client(), new Client(url)];
    const form = { ...CARD, ...(await second.openPage(order)) };
    const paid = first.postForm(`/pay/${order.id}/`, { ...CARD, ...(await first.openPage(order)) });
    await fault.hit;
    const third = await new Client(url).send(`/pay/${order.id}/`);
    expect([third.status, await third.text()]).toEqual([200, expect.stringContaining('We have not heard back yet')]);
    const response = await second.postForm(`/pay/${order.id}/`, form);
    const html = await response.text();
    expect([response.status, html]).toEqual([503, expect.stringContaining('We have not heard back yet')]);
    expect(html).not.toContain('Nothing was charged');
    const wrong = await second.postForm(`/pay/${order.id}/`, { ...form, number: '1' }, { accept: 'application/json' });
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      { error: expect.objectContaining({ type: 'ValidationError', property_path: 'number' }) },
    ]);
    expect((await paid).status).toBe(200);
    expect(await readStatuses(order.id)).toBe('completed: accepted');
  });

  test('rules 12.4: an answer that does not come in time is waited for', async () => {
    const order = await createPageOrder();
    const { url } = await pages({ deadline_ms: 1 });
    const customer = new Client(url);
    const form = { ...CARD, ...(await customer.openPage(order)) };
    const response = await customer.postForm(`/pay/${order.id}/`, form);
    expect(response.status).toBe(503);
    const waiting = await response.text();
    expect(waiting).toContain('We have not heard back yet');
    for (const reload of ['data-reload-url="', 'content="2;url=']) {
      expect(waiting).toContain(`${reload}/pay/${order.id}/?waited=1&amp;sent=1"`);
    }
    const told = await customer.postForm(`/pay/${order.id}/`, form, { accept: 'application/json' });
    expect([
      told.status,
      told.headers.get('retry-after'),
      ((await told.json()) as { error: { type: string } }).error.type,
    ]).toEqual([503, '1', 'ServerError']);
  });

  test('rules 19.13: once the secret that signed the cookie is removed the payer of a link is a new one, whose form pays', async () => {
    const link = await new Merchant().createPaymentLink();
    const path = new URL(link.payment_url).pathname;
    const page_secrets = ['a'.repeat(32)];
    const customer = new Client((await pages({ page_secrets })).url);
    const pay = async (fields: Record<string, string> = {}) =>
      await (await customer.postForm(path, { ...CARD, ...(await customer.openPage(link, path)), ...fields })).text();
    expect(await pay({ number: CARDS.do_not_honor.number })).toContain('Your card was declined');
    page_secrets[0] = 'b'.repeat(32);
    expect(await pay()).toContain('Payment completed');
  });

  /** As while a restore is under way. */
  const requireOpen = () => {
    throw new ServiceError('ServiceUnavailable', 'The service is being restored.');
  };

  test('rules 28.1 and 12.10: during a restore forms get a page in the language of theirs, and pages are shown', async () => {
    const order = await createPageOrder({ locale: 'de' });
    const { url } = await pages({ requireOpen });
    const customer = new Client(url);
    const form = { ...CARD, ...(await customer.openPage(order)), language: 'de' };
    for (const path of ['', 'cancel/']) {
      const refused = await customer.postForm(`/pay/${order.id}/${path}`, form);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.text()).toContain(LANGUAGES['de']!.texts.problems[503].heading);
    }
    expect(hidden(await (await customer.send(`/pay/${order.id}/`)).text(), 'language')).toBe('de');
  });

  test('rules 28.1: during a restore a page that the record lacks is 503, as the restore may bring it back', async () => {
    const order = await createPageOrder();
    const customer = new Client((await pages({ requireOpen })).url);
    for (const path of [`pay/${NOBODY}`, `pay/${order.id}/${NOBODY}`, `paymentlinks/${NOBODY}`]) {
      const response = await customer.send(`/${path}/`);
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '1']);
      expect(await response.text()).toContain('We cannot answer right now');
    }
  });

  test('of more forms than the limit of an order allows the rest does nothing, and other orders are paid', async () => {
    const [order, other] = [await createPageOrder(), await createPageOrder()];
    const rate = { per_second: 1, burst: 3 };
    const { url } = await pages({ rates: { page: { per_second: 1, burst: 100 }, order_form: rate, link_form: rate } });
    const customer = new Client(url);
    const form = { ...CARD, ...(await customer.openPage(order)) };
    const forged = await customer.postForm(`/pay/${order.id}/`, { ...form, token: '' });
    expect(forged.status).toBe(403);
    for (const path of ['', 'wallet/', '']) {
      expect((await customer.postForm(`/pay/${order.id}/${path}`, { ...form, number: '' })).status).not.toBe(429);
    }
    for (const path of ['', 'wallet/', 'cancel/']) {
      const response = await customer.postForm(`/pay/${order.id.toUpperCase()}/${path}`, form);
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 429, '1']);
      expect(await response.text()).toContain(`href="/pay/${order.id}/"`);
    }
    expect(await readStatuses(order.id)).toBe('new:');
    expect(
      (await customer.postForm(`/pay/${other.id}/`, { ...CARD, ...(await customer.openPage(other)) })).status,
    ).toBe(200);
    expect(await readStatuses(other.id)).toBe('completed: accepted');
  });

  test('behind https and a path the cookie is secure and every address begins with the path', async () => {
    const order = await createPageOrder();
    const { url } = await pages({ public_url: 'https://pay.example/eu' });
    const response = await new Client(url).send(`/pay/${order.id}/`);
    expect(response.headers.get('set-cookie')).toMatch(
      new RegExp(
        `^__Secure-pay=[^;]+; Max-Age=86400; Path=/eu/pay/${order.id}; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$`,
      ),
    );
    const html = await response.text();
    expect(
      [...html.matchAll(/(?:action|href|src)="([^#"]+)"/g)]
        .map(([, address]) => address!)
        .filter((address) => !address.startsWith('/eu/')),
    ).toEqual([]);
  });
});

test('rules 23.8: the pages of an object whose clock was advanced show its time', async () => {
  const merchant = new Merchant();
  const [order, link] = [await merchant.createOrder({ expiration_period: 'P2D' }), await merchant.createPaymentLink()];
  const pageOf = async (url: string) => await (await new Client().send(new URL(url).pathname)).text();
  for (const [path, url] of [
    [`orders/${order.id}`, order.order_url!],
    [`paymentlinks/${link.id}`, link.payment_url],
  ] as const) {
    expect(await pageOf(url)).not.toContain('Sandbox time');
    await merchant.send('POST', `/v1/${path}/test-clock/`, { body: { advance: 'P1D' } });
    expect(await pageOf(url)).toMatch(/Sandbox time: \d+ \w+ \d{4} at \d\d:\d\d UTC/);
  }
  await merchant.send('POST', `/v1/orders/${order.id}/test-clock/`, { body: { advance: 'P2D' } });
  const ended = await pageOf(order.order_url!);
  expect(ended).toMatch(/expired[^]*Sandbox time|Sandbox time[^]*expired/);
});
