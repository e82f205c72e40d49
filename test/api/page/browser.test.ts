import type { Page } from 'playwright-core';
import { LANGUAGES } from '../../../api/page/languages';
import { WALLETS, type Wallet } from '../../../src/processor/wire';
import { aVisitor, launchBrowser, SIZES, type Visitor } from '../../support/browser';
import { CARD, createPageOrder, makeOrderDue, orderAsMerchant, readStatuses } from '../../support/customer';
import { CARDS } from '../../support/domain';
import { readLedger } from '../../support/ledger';
import { Merchant } from '../../support/merchant';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

/** The hosted page in a real Chromium: what a customer sees and does. */

const PAY = 'form:has([autocomplete="cc-number"]) button';

const walletButton = (wallet: Wallet) => `form:has([name="payment_method"][value="${wallet}"]) button`;
const CANCEL = 'form[action$="/cancel/"] button';

const browser = setUp(launchBrowser);
/** The merchant's shop: where customers go on to. */
const merchant = setUp(startReceiver);
const visitors: Visitor[] = [];

beforeAll(async () => {
  merchant.answer((response, _n, { path }) =>
    path.startsWith('/moved')
      ? response.writeHead(302, { location: merchantAtOtherHost() }).end()
      : response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Shop</title><h1>Welcome back</h1>'),
  );
});
/** The shop under another name: a host that no page of the service has seen. */
const merchantAtOtherHost = () => merchant.url.replace('127.0.0.1', 'localhost');
afterEach(async () => {
  const complaints = visitors.splice(0).map(async (visitor) => {
    await visitor.page.context().close();
    return visitor.complaints;
  });
  const all = (await Promise.all(complaints)).flat();
  if (all.length > 0) throw new Error(`the browser complained: ${all.join(' | ')}`);
});

async function visit(options: Parameters<typeof aVisitor>[1] = {}): Promise<Page> {
  const visitor = await aVisitor(browser, options);
  visitors.push(visitor);
  return visitor.page;
}

const heading = (page: Page) => page.locator('h1').innerText();

/** A click returns when the next page has begun, not when it is there: what it says is waited for, by its words. */
const alerted = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text }).waitFor();

type Looks = (typeof LOOKS)[number];
/** Every pair of two of the first three; each wallet with and without a script. */
const LOOKS = [
  { size: 'desktop', colorScheme: 'light', javaScriptEnabled: true, wallet: 'apple-pay' },
  { size: 'desktop', colorScheme: 'dark', javaScriptEnabled: false, wallet: 'google-pay' },
  { size: 'phone', colorScheme: 'light', javaScriptEnabled: false, wallet: 'apple-pay' },
  { size: 'phone', colorScheme: 'dark', javaScriptEnabled: true, wallet: 'google-pay' },
] as const;

async function payByWallet({ wallet, ...looks }: Looks): Promise<void> {
  const page = await visit(looks);
  const order = await createPageOrder({ payment_methods: WALLETS, return_url: merchant.url });
  await page.goto(order.order_url);
  expect(await page.locator(walletButton(wallet)).innerText()).toMatch(/^Pay with (Apple|Google) Pay\s+Simulated$/);
  expect(await page.locator(PAY).count()).toBe(0);
  await fits(page);
  await page.click(walletButton(wallet));
  await page.waitForURL(`${merchant.url}?order_id=${order.id}&project_id=${order.project_id}`);
  expect(await readStatuses(order.id)).toBe('completed: accepted');
  expect((await orderAsMerchant(order.id)).transactions?.[0]?.payment_method).toBe(wallet);
}

/** What customers do, each with a browser of their own. */
const FLOWS: Record<string, (looks: Looks) => Promise<void>> = {
  async 'a declined card, another one, and back to the shop'(looks) {
    const page = await visit(looks);
    const order = await createPageOrder({ return_url: `${merchant.url}?cart=7` });
    await page.goto(order.order_url);
    await fits(page);
    await fillIn(page, { number: CARDS.do_not_honor.number });
    await page.click(PAY);
    await alerted(page, /Your card was declined[^]*4 more times/);
    expect(await page.title()).toMatch(/^Declined – Pay/);
    expect(await page.inputValue('[autocomplete="cc-number"]')).toBe('');
    await fits(page);
    await fillIn(page);
    await page.click(PAY);
    await page.waitForURL(`${merchant.url}?cart=7&order_id=${order.id}&project_id=${order.project_id}`);
    expect(await heading(page)).toBe('Welcome back');
    expect(await readStatuses(order.id)).toBe('completed: error accepted');
  },

  'the button of a wallet pays, and back to the shop': payByWallet,
};

/** In light colours only: with a script on a desktop, without one on a phone. */
const LIGHT_FLOWS: typeof FLOWS = {
  async 'one click on a test card fills the form in'(looks) {
    const page = await visit(looks);
    const order = await createPageOrder();
    await page.goto(order.order_url);
    const time = looks.javaScriptEnabled
      ? /Time left to pay:\s\d+:\d\d/
      : /Please pay before \d+ \w+ \d{4} at \d\d:\d\d UTC/;
    expect(await page.locator('.timer').innerText()).toMatch(time);
    await page.getByRole('button', { name: 'Use test card: Approved, Mastercard' }).click();
    // Without a script the page comes anew.
    await until(
      'the form is filled in',
      async () => (await page.inputValue('[autocomplete="cc-number"]')) === '5544 3300 0000 0037',
    );
    await page.click(PAY);
    await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
    await fits(page);
    expect((await orderAsMerchant(order.id)).transactions?.[0]?.payment_method_details).toMatchObject({
      truncated_pan: '554433******0037',
    });
  },

  async 'cancel leads to the failure address'(looks) {
    const page = await visit(looks);
    const order = await createPageOrder({ failure_url: merchant.url });
    await page.goto(order.order_url);
    await page.click(CANCEL);
    await page.waitForURL(`${merchant.url}?order_id=${order.id}&project_id=${order.project_id}`);
    expect(await readStatuses(order.id)).toBe('cancelled:');
  },
};

test.each(LOOKS)(
  'rules 12.2 and 12.11: a customer pays, is declined, cancels: $size, $colorScheme, script: $javaScriptEnabled',
  async (looks) => {
    const flows = { ...FLOWS, ...(looks.colorScheme === 'light' && LIGHT_FLOWS) };
    // At once, as they have nothing in common but the machine; each failure is told by the name of what was done.
    const failures = await Promise.all(
      Object.entries(flows).map(
        async ([name, flow]) =>
          await flow(looks).then(
            () => undefined,
            (error: unknown) => new Error(name, { cause: error }),
          ),
      ),
    );
    const failed = failures.filter((failure) => failure !== undefined);
    if (failed.length > 0) {
      throw new AggregateError(failed, failed.map(({ message, cause }) => `${message}: ${String(cause)}`).join('\n'));
    }
  },
);

interface Box {
  x: number;
  width: number;
}

const boxesOf = (page: Page): Promise<Box[]> =>
  page
    .locator('main *:visible')
    .evaluateAll((all) =>
      (all as unknown as { getBoundingClientRect(): Box }[])
        .map((one) => one.getBoundingClientRect())
        .map(({ x, width }) => ({ x, width })),
    );

/** Nothing sticks out to the side. */
async function fits(page: Page): Promise<void> {
  // Before its style sheet is there everything is elsewhere.
  await page.waitForLoadState();
  const { width } = page.viewportSize() ?? SIZES.desktop;
  // A page that waits loads itself again, perhaps at this very moment.
  const boxes = await until('the page can be measured', async () => {
    const found = await boxesOf(page).catch((error: unknown) => {
      if (String(error).includes('Execution context was destroyed')) return [];
      throw error;
    });
    return found.length > 0 && found;
  });
  const sticking = boxes.filter((box) => box.x < 0 || box.x + box.width > width + 0.5);
  expect(sticking).toEqual([]);
}

test('rules 12.4: the return address may change while the page is open, and lead on to another host', async () => {
  const page = await visit();
  const order = await createPageOrder({ return_url: 'https://shop.example/' });
  await page.goto(order.order_url);
  const body = { return_url: new URL('/moved', merchant.url).href };
  expect((await new Merchant().send('PUT', `/v1/orders/${order.id}/`, { body })).status).toBe(200);
  await fillIn(page);
  await page.click(PAY);
  await page.waitForURL(merchantAtOtherHost());
  expect(await heading(page)).toBe('Welcome back');
});

test.each([true, false])(
  'a page with an open outcome reloads until it is known; script: %p',
  async (javaScriptEnabled) => {
    const page = await visit({ javaScriptEnabled, size: 'phone' });
    const order = await createPageOrder({ return_url: merchant.url });
    await page.goto(order.order_url);
    await fillIn(page, { number: CARDS.processing_approved.number });
    await page.click(PAY);
    await page.getByRole('heading', { name: 'Your payment is being processed', exact: true }).waitFor();
    await fits(page);
    await makeOrderDue(order.id);
    await page.waitForURL(`${merchant.url}?order_id=*`);
  },
);

test.each([true, false])(
  'a payment link: declined, failed at the issuer, paid there, and back to the shop; script: %p',
  async (javaScriptEnabled) => {
    const page = await visit({ javaScriptEnabled, size: 'phone', colorScheme: 'dark' });
    const link = await new Merchant().createPaymentLink({ return_url: merchant.url });
    const payByChallenge = async (code: string) => {
      await fillIn(page, { number: CARDS.challenge.number });
      await page.click(PAY);
      await page.waitForURL('**/challenge/**');
      await page.fill('input[name=code]', code);
      await page.getByRole('button', { name: 'Confirm' }).click();
    };
    await page.goto(link.payment_url);
    await fits(page);
    // Thirty days are not counted down.
    expect(await page.locator('.timer').innerText()).toMatch(/Please pay before \d+ \w+ \d{4}/);
    await fillIn(page, { number: CARDS.do_not_honor.number });
    await page.click(PAY);
    await alerted(page, /Your card was declined[^]*24 more times/);
    await payByChallenge('3333');
    await page.waitForURL(link.payment_url);
    await alerted(page, /Your bank did not confirm the payment[^]*23 more times/);
    const other = await visit({ javaScriptEnabled });
    await payByChallenge('0101');
    await page.waitForURL(`${merchant.url}?order_id=*&project_id=*&payment_link_id=${link.id}`);
    await other.goto(link.payment_url);
    expect(await heading(other)).toBe('This has been paid');
    await fits(other);
    expect((await new Merchant().getPaymentLink(link.id)).status).toBe('completed');
  },
);

/** The language whose page of a paid order has the longest texts. */
const [LONGEST] = Object.entries(LANGUAGES)
  .map(([lang, { texts }]) => ({ lang, ...texts.ended.completed }))
  .toSorted((one, other) => (other.heading + other.detail('')).length - (one.heading + one.detail('')).length);

describe.each(Object.keys(LANGUAGES))('in the language %s', (lang) => {
  const { texts } = LANGUAGES[lang]!;

  test('its form, errors and a decline are in it, and at 1280 and 320 px nothing sticks out or is cut off', async () => {
    const page = await visit();
    const order = await createPageOrder({ locale: lang, amount: 123_450 });
    const atEveryWidth = async (check: () => Promise<void>) => {
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 800 });
        await check();
      }
    };
    await page.goto(order.order_url);
    const title = await page.title();
    expect(await page.locator('html').getAttribute('lang')).toBe(lang);
    const label = async (name: string) => (await page.locator(`label[for=${name}]`).boundingBox())?.height;
    await atEveryWidth(async () => {
      await fits(page);
      expect(await page.evaluate<string[]>(CUT_OFF)).toEqual([]);
      expect(await label('security_code')).toBe(await label('number'));
      expect(await label('card_expiry')).toBe(await label('number'));
    });
    await page.click(PAY);
    await alerted(page, texts.check_fields);
    await atEveryWidth(() => fits(page));
    await fillIn(page, { number: CARDS.insufficient_funds.number });
    await page.click(PAY);
    await alerted(page, texts.declined);
    expect(await page.title()).toBe(texts.declined_title(title));
    await atEveryWidth(() => fits(page));
    if (lang !== LONGEST!.lang) return;
    await fillIn(page);
    await page.click(PAY);
    await page.getByRole('heading', { name: texts.ended.completed.heading }).waitFor();
    await atEveryWidth(async () => {
      await fits(page);
      expect(await page.evaluate<string[]>(CUT_OFF)).toEqual([]);
    });
  });
});

/** In the page: texts that are wider than what holds them. */
const CUT_OFF = `[...document.querySelectorAll('button, label, .hint, h1, h2, dt, dd, .tag, .promise')].filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).display !== 'inline').map((one) => one.textContent)`;

test('a page on a touch screen has a language, one main part, one first heading and a name for all; wallets say that they are simulated; what can be pressed is 44 px high', async () => {
  const page = await visit({ size: 'phone', hasTouch: true, isMobile: true });
  await page.goto((await createPageOrder()).order_url);
  expect(await page.locator('html').getAttribute('lang')).toBe('en');
  expect([await page.locator('main').count(), await page.locator('h1').count()]).toEqual([1, 1]);
  const names = await Promise.all(
    ['Card number', 'Expiry date', 'Security code', 'Name on card'].map((label) =>
      page.getByLabel(label, { exact: true }).count(),
    ),
  );
  expect(names).toEqual([1, 1, 1, 1]);
  const buttons = await page
    .getByRole('button')
    .evaluateAll((all) => all.map((one) => String((one as unknown as { textContent: string }).textContent)));
  expect(buttons.filter((text) => text.trim() === '')).toEqual([]);
  expect(await page.locator(`${PAY}`).count()).toBe(1);
  for (const name of ['Pay with Apple Pay Simulated', 'Pay with Google Pay Simulated']) {
    const described = await page.getByRole('button', { name, exact: true }).getAttribute('aria-describedby');
    expect(await page.locator(`#${described}`).innerText()).toContain('no card of yours is used');
  }
  const heights = await Promise.all(
    WALLETS.map(async (wallet) => (await page.locator(walletButton(wallet)).boundingBox())?.height),
  );
  expect(new Set(heights).size).toBe(1);
  await page.click(PAY);
  await page.getByRole('alert').waitFor();
  await page.waitForLoadState();
  const low = await page
    .locator('a, button, input:not([type=hidden])')
    .evaluateAll((all) =>
      (all as unknown as { getBoundingClientRect(): { height: number }; textContent: string }[])
        .filter((one) => one.getBoundingClientRect().height < 44)
        .map((one) => one.textContent),
    );
  expect(low).toEqual([]);
});

test('the longest texts and amounts fit on the narrowest phone', async () => {
  const page = await visit({ viewport: { width: 320, height: 640 } });
  const order = await createPageOrder({
    currency: 'KWD',
    amount: Number.MAX_SAFE_INTEGER,
    description: 'x'.repeat(4_096),
    merchant_order_id: 'R'.repeat(255),
  });
  await page.goto(order.order_url);
  await fits(page);
  await page.click(CANCEL);
  await page.getByRole('heading', { name: 'Payment cancelled' }).waitFor();
  await fits(page);
});

test('rules 12.2: the keyboard alone pays', async () => {
  const page = await visit();
  const order = await createPageOrder();
  await page.goto(order.order_url);
  for (const wallet of WALLETS) {
    await page.keyboard.press('Tab');
    expect(await page.locator(`${walletButton(wallet)}:focus`).count()).toBe(1);
  }
  for (const text of [CARD.number, '12/34', CARD.security_code, CARD.cardholder_name]) {
    await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  }
  expect(await page.inputValue('[autocomplete="cc-number"]')).toBe('4111 1111 1111 1111');
  expect(await page.inputValue('[autocomplete="cc-exp"]')).toBe('12 / 34');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
});

test('rules 12.2: the expiry may be typed with its slash, with spaces, a dash or a point, or without', async () => {
  const page = await visit();
  await page.goto((await createPageOrder()).order_url);
  const expiry = page.getByLabel('Expiry date');
  for (const typed of ['1234', '12/34', '12 / 34', '12 34', '12-34', '12.34', '12/2034']) {
    await expiry.fill('');
    await expiry.pressSequentially(typed);
    expect([typed, await expiry.inputValue()]).toEqual([typed, typed.endsWith('2034') ? '12 / 2034' : '12 / 34']);
  }
  await expiry.fill('');
  await expiry.pressSequentially('2034-12');
  expect(await expiry.inputValue()).toBe('2034-12');
  await expiry.fill('12 / 2034');
  await expiry.press('Backspace');
  await expiry.pressSequentially('5');
  expect(await expiry.inputValue()).toBe('12 / 2035');
});

test('rules 12.2: a page that waits stays while a button of it has the focus', async () => {
  const page = await visit();
  const order = await createPageOrder();
  await page.clock.install();
  await page.goto(order.order_url);
  await fillIn(page, { number: CARDS.processing_approved.number });
  await page.click(PAY);
  await page.getByRole('heading', { name: 'Your payment is being processed', exact: true }).waitFor();
  const check = page.getByRole('link', { name: 'Check now' });
  await check.focus();
  // Told before a request is sent; the list is of this page.
  await page.evaluate(
    `loads = []; navigation.addEventListener('navigate', ({ destination }) => loads.push(destination.url))`,
  );
  // Longer than the pause after which it would load itself.
  await page.clock.runFor(4_000);
  expect(await page.evaluate('loads')).toEqual([]);
  const loaded = page.waitForRequest((request) => request.isNavigationRequest());
  await check.blur();
  await page.clock.runFor(1_000);
  await loaded;
});

test.each(['Enter', 'Space'])('the keyboard alone presses a wallet: %s', async (key) => {
  const page = await visit();
  const order = await createPageOrder();
  await page.goto(order.order_url);
  await page.keyboard.press('Tab');
  await page.keyboard.press(key);
  await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
  expect(await page.locator('.receipt').innerText()).toMatch(/Paid with\s+Apple Pay, Visa ending in \d{4}/);
  expect(await readLedger(order.id)).toMatchObject([{ requests: 1 }]);
});

test.each([walletButton('apple-pay'), PAY])(
  'rules 12.5: two clicks on %s, a reload and the back button never charge twice',
  async (button) => {
    const page = await visit();
    const order = await createPageOrder();
    await page.goto(order.order_url);
    await fillIn(page);
    await page.locator(button).dblclick({ noWaitAfter: true });
    await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
    await page.waitForLoadState();
    const methods: string[] = [];
    page.on('request', (request) => request.isNavigationRequest() && methods.push(request.method()));
    await page.reload();
    expect(methods).toEqual(['GET']);
    expect(await heading(page)).toBe('Payment completed');
    await page.goBack();
    await page.goForward();
    expect(await readStatuses(order.id)).toBe('completed: accepted');
    expect(await readLedger(order.id)).toMatchObject([{ requests: 1 }]);
  },
);

test('a press on each of the ways to pay at once: one is sent', async () => {
  const page = await visit();
  const order = await createPageOrder();
  await page.goto(order.order_url);
  await fillIn(page);
  const posts: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()));
  await page.evaluate(`document.querySelectorAll('form[data-pay] button').forEach((button) => button.click())`);
  await page.getByRole('heading', { name: 'Payment completed' }).waitFor();
  expect(posts).toEqual([`${order.order_url}wallet/`]);
  expect(await readLedger(order.id)).toHaveLength(1);
});

test.each<[string, (page: Page) => Promise<unknown>]>([
  ['after the back button', (page) => page.evaluate(`window.dispatchEvent(new Event('pageshow'))`)],
  ['once the customer has stopped to wait for the answer', (page) => page.clock.runFor(21_000)],
])('%s a wallet’s button has its words again', async (_when, happens) => {
  const page = await visit();
  const order = await createPageOrder({ return_url: merchant.url, payment_methods: ['google-pay'] });
  await page.clock.install();
  await page.goto(order.order_url);
  const words = await page.locator(walletButton('google-pay')).innerText();
  await page.evaluate(
    `document.querySelector('form[data-pay]').addEventListener('submit', (event) => event.preventDefault())`,
  );
  await page.click(walletButton('google-pay'));
  expect(await page.locator(walletButton('google-pay')).innerText()).toMatch(/^Paying…\s+Simulated$/);
  await happens(page);
  expect(await page.locator(walletButton('google-pay')).innerText()).toBe(words);
});

test('after a mistake the summary has the focus, names each field, and leads to it', async () => {
  const page = await visit({ size: 'phone' });
  const order = await createPageOrder();
  await page.goto(order.order_url);
  await fillIn(page, { number: '4111111111111112', security_code: '' });
  await page.click(PAY);
  await page.locator('[role=alert]:focus').waitFor();
  expect(await page.title()).toMatch(/^Error: Pay/);
  await page.getByRole('link', { name: 'Enter the security code of your card' }).click();
  await page.locator('#security_code:focus').waitFor();
  expect(await page.getByLabel('Card number').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Name on card').inputValue()).toBe('Ada Lovelace');
  expect(await readStatuses(order.id)).toBe('new:');
});

test('a reload after a decline shows the form and sends nothing', async () => {
  const page = await visit();
  const order = await createPageOrder();
  await page.goto(order.order_url);
  await fillIn(page, { number: CARDS.stolen.number });
  await page.click(PAY);
  await page.getByRole('alert').waitFor();
  // Its script, which runs once all of the page is there, takes care that a reload sends nothing again.
  await page.waitForLoadState();
  const methods: string[] = [];
  page.on('request', (request) => request.isNavigationRequest() && methods.push(request.method()));
  await page.reload();
  expect(methods).toEqual(['GET']);
  expect(await page.getByRole('alert').innerText()).toContain('declined');
  expect(await readLedger(order.id)).toHaveLength(1);
});

test('the time that is left counts down; at the end the page says so, or leads to failure_url', async () => {
  const [page, leading] = [await visit(), await visit()];
  const order = await createPageOrder({ expiration_period: 'PT8S' });
  const { order_url } = await createPageOrder({ expiration_period: 'PT8S', failure_url: merchant.url });
  await Promise.all([page.goto(order.order_url), leading.goto(order_url)]);
  expect(await page.locator('.timer').innerText()).toMatch(/Time left to pay:\s0:0\d/);
  await page.getByRole('heading', { name: 'This payment has expired' }).waitFor({ timeout: 20_000 });
  await leading.waitForURL(`${merchant.url}**`, { timeout: 20_000 });
});

test.each(['light', 'dark'] as const)('every text can be told from its ground: %s', async (colorScheme) => {
  const page = await visit({ colorScheme });
  const order = await createPageOrder();
  await page.goto(order.order_url);
  await page.click(PAY);
  await page.getByRole('alert').waitFor();
  await page.waitForLoadState();
  expect(await page.evaluate<string[]>(FAINT_TEXTS)).toEqual([]);
  await page.goto(order.order_url);
  await page.click(CANCEL);
  await page.getByRole('heading', { name: 'Payment cancelled' }).waitFor();
  await page.waitForLoadState();
  expect(await page.evaluate<string[]>(FAINT_TEXTS)).toEqual([]);
});

/**
 * In the page: texts whose contrast with the colour behind them is less than 4.5 to 1; of a gradient its lightest
 * colour counts.
 */
const FAINT_TEXTS = `(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(at);
      const gradient = /rgba?\\([^)]*\\)/.exec(backgroundImage);
      if (gradient) return numbers(gradient[0]);
      const colour = numbers(backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.body.querySelectorAll('*:not(svg, svg *)')) {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()).join('');
    if (own === '') continue;
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.push(own + ' ' + ratio.toFixed(2));
  }
  return faint;
})()`;

async function fillIn(page: Page, card: Partial<typeof CARD> = {}): Promise<void> {
  const { number, card_expiry, security_code, cardholder_name } = { ...CARD, ...card };
  await page.fill('[autocomplete="cc-number"]', number);
  await page.fill('[autocomplete="cc-exp"]', card_expiry);
  await page.fill('[autocomplete="cc-csc"]', security_code);
  await page.fill('[autocomplete="cc-name"]', cardholder_name);
}
