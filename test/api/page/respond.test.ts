import { Router, type Request } from 'express';
import pino from 'pino';
import type { CsrfProtection } from '../../../api/page/csrf';
import type { LateApproval, PageOutcome, Payable, PaymentState } from '../../../api/page/payable';
import { createRespond, onPageError, type PageRequestKind } from '../../../api/page/respond';
import { OutcomeUnknown, ServiceError } from '../../../src/errors';
import { SERIALIZERS } from '../../../src/log';
import { NOBODY } from '../../support/shapes';
import { serveTestApi } from '../../support/test-api';

/** What a handler of the page that throws is answered with, and logs. */
async function answerTo(thrown: unknown, accept = 'text/html', path = '/pay/', method = 'GET') {
  const lines: string[] = [];
  const pages = Router();
  pages.use('/pay', () => {
    throw thrown;
  });
  pages.use(
    '/pay',
    onPageError(
      pino({ level: 'debug', serializers: SERIALIZERS }, { write: (line: string) => void lines.push(line) }),
      '',
    ),
  );
  const api = await serveTestApi({ routers: [pages] });
  const response = await api.send(path, { method, headers: { accept } });
  const text = await response.text();
  await api.close();
  return { response, text, log: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** A page on which the first attempt can be paid. */
const PAYABLE: Payable = {
  ...{ id: NOBODY, project_id: NOBODY, is_test: false, path: `/pay/${NOBODY}/`, merchant_name: 'Shop' },
  ...{
    amount: 500,
    currency: 'EUR',
    description: null,
    merchant_order_id: null,
    locales: [],
    methods: ['credit-card'],
  },
  ...{ now: 0, clock_was_advanced: false, paid_with: undefined, is_cancelled: false, may_be_approved: false },
  state: {
    ...{
      kind: 'payable',
      attempt: 1,
      attempts_left: 5,
      last_failure: undefined,
      late_approval: undefined,
      cancellable: true,
    },
    ...{ charge_began: false, expires_at: 60_000 },
  },
};

/** The answer to a request for the page: its words, whether it loads itself again, and where it redirects to. */
async function visitTo(
  payable: Payable,
  query = '',
  cause: PageRequestKind = 'visit',
  headers: Record<string, string> = {},
): Promise<{ text: string; reloads: boolean; location: string | null }> {
  const payer = ({ headers }: Request) => headers.cookie;
  const csrf = { token: () => 'token', payer } as unknown as CsrfProtection;
  const respond = createRespond({ csrf, base: '', testCards: async () => [] });
  const pages = Router();
  pages.use('/pay', (request, response) => respond(request, response, payable, cause));
  const api = await serveTestApi({ routers: [pages] });
  const response = await api.send(`/pay/${query}`, {
    headers: { accept: 'text/html', ...headers },
    redirect: 'manual',
  });
  const text = await response.text();
  await api.close();
  const reloads = text.includes(`content="2;url=/pay/${NOBODY}/?waited=1"`);
  return { text, reloads, location: response.headers.get('location') };
}

test('rules 10.8: each page of an attempt whose charge was begun waits for it, and offers to cancel', async () => {
  const { state } = PAYABLE;
  const free = await visitTo(PAYABLE);
  expect([free.text.includes('name="number"'), free.reloads]).toEqual([true, false]);
  const begun = await visitTo({ ...PAYABLE, state: { ...state, charge_began: true } as PaymentState });
  expect(begun.text).toContain('We have not heard back yet');
  expect([begun.text.includes('name="number"'), begun.reloads]).toEqual([false, true]);
  expect(begun.text).toContain(`action="/pay/${NOBODY}/cancel/"`);
  // Where the script is not loaded, although the browser has one.
  expect(begun.text).toContain(`</noscript><meta http-equiv="refresh" content="72;url=/pay/${NOBODY}/?waited=1"`);
});

test.each([
  ['the page waits for its attempt', '?waited=1&sent=1', 'content="2;url=PAGE?waited=2&amp;sent=1"'],
  ['the page waits for two minutes', '?waited=27&sent=1', 'content="7;url=PAGE?waited=28&amp;sent=1"'],
  ['it shows the form after two minutes', '?waited=28&sent=1', 'name="number"'],
  ['it shows the form of the next attempt', '?waited=1&sent=2', 'name="number"'],
  ['an address that a person has changed shows the form', '?waited=1&sent=x', 'name="number"'],
])('rules 10.8: after a form without an outcome %s: %s', async (_title, query, expected) => {
  const { text } = await visitTo(PAYABLE, query);
  expect(text).toContain(expected.replace('PAGE', PAYABLE.path));
  expect(text.includes('We have not heard back yet')).toBe(expected.startsWith('content'));
});

test.each([
  ['?waited=27&sent=1', 'We have not heard back yet'],
  ['?waited=28&sent=1', 'No payments at the moment'],
  ['', 'No payments at the moment'],
])('rules 21.10: the project was suspended after a form without an outcome: %s: %s', async (query, words) => {
  const state: PaymentState = { ...ended('suspended'), late_approval: undefined } as PaymentState;
  const { text } = await visitTo({ ...PAYABLE, state }, query);
  expect(text).toContain(words);
  expect(text.includes('Nothing was charged')).toBe(words.startsWith('No'));
});

test.each<[string, 'TooManyRequests' | 'ServiceUnavailable' | 'ServerError' | 'Forbidden', string, boolean]>([
  ['a reload', 'ServiceUnavailable', 'GET', true],
  ['a reload', 'ServerError', 'GET', true],
  ['a reload', 'TooManyRequests', 'GET', true],
  ['a refusal', 'Forbidden', 'GET', false],
  ['a form', 'ServiceUnavailable', 'POST', false],
])('rules 12.4: an error page loads the page again after %s: %s to %s: %p', async (_title, error, method, waits) => {
  const path = `${PAYABLE.path}?waited=3&sent=1`;
  const { text } = await answerTo(new ServiceError(error, 'Why.'), 'text/html', path, method);
  expect(text.includes(`content="10;url=${PAYABLE.path}?waited=4&amp;sent=1"`)).toBe(waits);
  expect(text.includes('http-equiv="refresh"')).toBe(waits);
});

test('rules 12.12: an error page of a return from the issuer loads the page again as such a return', async () => {
  const path = `${PAYABLE.path}${NOBODY}/?from=issuer`;
  const { text } = await answerTo(new ServiceError('ServiceUnavailable', 'Why.'), 'text/html', path);
  expect(text).toContain(`content="10;url=${PAYABLE.path}?waited=1&amp;from=issuer"`);
});

test('rules 10.8: the page of a form whose outcome is not known waits for it, also when the record cannot be read', async () => {
  const { text } = await answerTo(new OutcomeUnknown(), 'text/html', PAYABLE.path, 'POST');
  expect(text).toContain(`content="10;url=${PAYABLE.path}?waited=1"`);
});

const failures = (reason: 'declined' | undefined) => ({
  last_failure: reason && { reason, payment_method: 'credit-card', response_code: undefined },
  late_approval: 'not_given_back' as const,
});
const ended = (outcome: PageOutcome): PaymentState => ({
  ...{ kind: 'ended', outcome, return_address: undefined },
  ...failures(undefined),
});

test.each<[string, PaymentState, boolean]>([
  ['of a suspended project', ended('suspended'), false],
  ['of an attempt through a link', ended('attempt_failed'), false],
  ['on which another attempt can be made', { ...PAYABLE.state, ...failures(undefined) } as PaymentState, false],
  ['of another attempt, which was declined', { ...PAYABLE.state, ...failures('declined') } as PaymentState, true],
  ['of another attempt, which paid', ended('completed'), true],
])('rules 12.12: the page %s tells of money that could not be given back', async (_title, state, is_earlier) => {
  const { text } = await visitTo({ ...PAYABLE, state });
  expect(text).toContain('did not go back by itself. Please contact Shop.');
  expect(text.includes('Your bank approved an earlier payment')).toBe(is_earlier);
  expect(text.includes('The payment could not be given back')).toBe(!is_earlier);
  expect(text.includes('Nothing was charged')).toBe(text.includes('Your card was declined'));
});

test.each<[PageOutcome, LateApproval | undefined, string | null]>([
  ['expired', undefined, 'https://shop.example/'],
  ['given_back', 'given_back', null],
  ['not_given_back', 'not_given_back', null],
  ['completed', 'given_back', null],
])(
  'rules 12.12: %s, late approval %s: back from the issuer the customer is redirected to %s',
  async (outcome, late_approval, expected) => {
    const return_address = 'https://shop.example/';
    const state: PaymentState = { kind: 'ended', outcome, last_failure: undefined, late_approval, return_address };
    const { location, text } = await visitTo({ ...PAYABLE, state }, '', 'issuer_return');
    expect(location).toBe(expected);
    if (expected === null) expect(text).toContain(`href="${return_address}"`);
  },
);

test.each<[string, PageRequestKind, string, Record<string, string>, boolean]>([
  ['after the form', 'form', '', { cookie: 'of the page' }, true],
  ['on the first visit, of an order charged by token', 'visit', '', {}, true],
  ['by the Back button', 'visit', '', { cookie: 'of the page' }, false],
  ['by a reload', 'visit', '?waited=1', {}, false],
  ['by the issuer', 'issuer_return', '?from=issuer', {}, false],
])(
  'rules 12.6: the page comes %s, as %s: %s %j, and leads on to the issuer at once: %p',
  async (_title, cause, query, headers, leads_on) => {
    const challenge_url = 'https://issuer.example/';
    const state: PaymentState = { kind: 'waiting', waiting_for: 'issuer', cancellable: true, challenge_url };
    const { text } = await visitTo({ ...PAYABLE, state }, query, cause, headers);
    expect(text.includes(`content="0;url=${challenge_url}"`)).toBe(leads_on);
    expect(text).toContain(`href="${challenge_url}"`);
    expect(text).toContain(`action="${PAYABLE.path}cancel/"`);
  },
);

/** How an order and a link's order end, and a page on which another attempt can be made. */
const OPEN_ENDS: [string, PaymentState][] = [
  ...(['cancelled', 'expired', 'suspended', 'attempt_failed', 'link_expired'] as const).map(
    (outcome): [string, PaymentState] => [
      outcome,
      { ...ended(outcome), late_approval: undefined, return_address: 'https://shop.example/' } as PaymentState,
    ],
  ),
  ['payable', PAYABLE.state],
  [
    'payable after a cancelled attempt',
    { ...PAYABLE.state, last_failure: { reason: 'cancelled', payment_method: 'credit-card' } } as PaymentState,
  ],
];

test.each(OPEN_ENDS)(
  'rules 12.12: %s, and the issuer may still approve: the page waits two minutes, then says so',
  async (_title, state) => {
    const payable = { ...PAYABLE, state, may_be_approved: true };
    const page = (query: string) => visitTo(payable, query, 'issuer_return');
    const first = await page('?from=issuer');
    expect([first.location, first.text]).toEqual([null, expect.stringContaining('Your payment is being processed')]);
    expect(first.text).toContain(`content="2;url=${PAYABLE.path}?waited=1&amp;from=issuer"`);
    expect((await page('?waited=27&from=issuer')).text).toContain('?waited=28&amp;from=issuer"');
    for (const { location, text } of [await page('?waited=28&from=issuer'), await visitTo(payable)]) {
      expect([location, text]).toEqual([null, expect.stringContaining('Your bank may still approve the payment')]);
      expect(text).not.toContain('Nothing was charged');
      expect(text).not.toContain('http-equiv="refresh"');
    }
  },
);

const parserError = (type: string, status: number) => Object.assign(new Error(type), { type, status });

test.each<[string, unknown, number, string]>([
  ['a declared error', new ServiceError('NotFound', 'There is no payment at this address.'), 404, 'Page not found'],
  ['an error without words of its own', new ServiceError('Conflict', 'Why.'), 409, 'This request cannot be read'],
  ['a processor that does not answer', new ServiceError('GatewayTimeout', 'Why.'), 504, 'We cannot answer right now'],
  ['a path that is no text', new URIError('malformed'), 400, 'This request cannot be read'],
  ['a form that is too long', parserError('entity.too.large', 413), 413, 'This form is too large'],
  ['a form with too many fields', parserError('parameters.too.many', 413), 413, 'This form is too large'],
  [
    'a form in a charset that is not known',
    parserError('charset.unsupported', 415),
    415,
    'This request cannot be read',
  ],
])('%s is a page, and no line of the log', async (_title, thrown, status, words) => {
  const { response, text, log } = await answerTo(thrown);
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  expect(text).toContain(words);
  expect(log).toEqual([]);
});

test.each([
  ['a page', 'text/html', 'We cannot answer right now'],
  ['JSON', 'application/json', '"type":"ServerError"'],
])('a database that does not answer: %s with 503 and Retry-After, and a warning', async (_title, accept, words) => {
  const { response, text, log } = await answerTo(
    Object.assign(new Error('select 1 - canceling statement due to statement timeout'), { code: '57014' }),
    accept,
  );
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(text).toContain(words);
  expect(log).toMatchObject([
    {
      level: 40,
      msg: 'the database did not answer',
      request_id: response.headers.get('x-request-id'),
      err: { code: '57014' },
    },
  ]);
});

test('an undeclared error is a page without details, and an error of the log without its body', async () => {
  const { response, text, log } = await answerTo(
    Object.assign(new TypeError('at secret place'), { body: 'number=4111111111111111' }),
  );
  expect(response.status).toBe(500);
  expect(text).toContain('Something went wrong on our side');
  expect(text).not.toContain('secret');
  expect(log).toMatchObject([
    {
      level: 50,
      msg: 'request failed',
      request_id: response.headers.get('x-request-id'),
      err: { type: 'TypeError', message: 'at secret place' },
    },
  ]);
  expect(JSON.stringify(log)).not.toContain('4111');
});
