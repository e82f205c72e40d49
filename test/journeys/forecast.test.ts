import { numbersFrom } from '../../proofs/support/random';
import type { Timeline } from '../../src/client';
import { CARD, Client } from '../support/customer';
import { CARDS, type CardName } from '../support/domain';
import { newIdempotencyKey, type Merchant, type RefusalName } from '../support/merchant';
import { capturePart, createAuthorization, part, refund, voidPart } from '../support/merchant-payments';
import { createTestProject } from '../support/operator';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { until } from '../support/waits';

/**
 * Orders of each kind and each merchant with random periods, amounts and earlier events: the forecast is what the
 * sandbox clock then does. FORECASTS=1000 for a thousand orders.
 */
const ORDERS = Number(process.env['FORECASTS'] ?? 18);
const AT_ONCE = 4;
jest.setTimeout(60_000 + ORDERS * 3_000);

const receiver = setUp(startReceiver);
/** Merchants whose receiver takes every webhook, takes none, and without one. */
let merchants: Merchant[];
beforeAll(async () => {
  const projects = [{ webhook_url: receiver.url }, { webhook_url: 'http://127.0.0.1:1/' }, {}];
  merchants = await Promise.all(projects.map(async (fields) => (await createTestProject(fields)).merchant));
});

/** Questions to a processor and retention keep real time. */
const NOT_BY_CLOCK = ['processor.asked', 'webhook.attempts_removed'];

type Forecast = NonNullable<Timeline['forecast']>[number];

const timelineOf = async (merchant: Merchant, id: string): Promise<Timeline & { forecast: Forecast[] }> =>
  (await merchant.send<Timeline & { forecast: Forecast[] }>('GET', `/v1/orders/${id}/timeline/?forecast=true`)).body;

const KINDS: Record<string, (merchant: Merchant, random: Random) => Promise<{ id: string }>> = {
  'to be paid': (merchant, { pick }) =>
    merchant.createOrder({
      expiration_period: pick(['PT5M', 'PT30M', 'P3D', 'P30D']),
      ...pick([{}, { transactions: [{ payment_method: 'credit-card', expiration_period: pick(['PT3M', 'PT2H']) }] }]),
    }),
  declined: async (merchant) => {
    const order = await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }] });
    const customer = new Client(stack().api_url);
    const form = { ...CARD, ...(await customer.openPage(order)), number: CARDS.do_not_honor.number };
    await customer.postForm(`/pay/${order.id}/`, form);
    return order;
  },
  'in 3-D Secure': (merchant) => merchant.paidOrder('challenge'),
  paid: (merchant, { pick }) => merchant.paidOrder(pick<CardName>(['approved', 'do_not_honor'])),
  refunded: async (merchant) => {
    const order = await merchant.paidOrder('approved');
    await refund(merchant, order, { amount: 100 }, { headers: { 'idempotency-key': newIdempotencyKey() } });
    return order;
  },
  authorized: async (merchant, { pick, random }) => {
    const capture_mode = pick(['manual', 'delayed'] as const);
    const card = pick<CardName>(['approved', 'approved', 'approved_mastercard']);
    const expiration_period = pick(['PT1M', 'PT20M', 'P2D', 'P5D']);
    const order = await createAuthorization(merchant, { card, transaction: { capture_mode, expiration_period } });
    const steps = Math.floor(random() * 3);
    for (let n = 0; n < steps; n += 1) {
      const change = capture_mode === 'manual' ? pick([capturePart, voidPart]) : voidPart;
      await change(merchant, order, part(pick([1, 100, 400])));
    }
    return order;
  },
};

interface Random {
  random: () => number;
  pick: <T>(of: readonly T[]) => T;
}

function randomOf(seed: number): Random {
  const random = numbersFrom(seed);
  return { random, pick: (of) => of[Math.floor(random() * of.length)]! };
}

/** How many entries were forecast for an order, and what differs from what then happened; undefined: nothing. */
async function forecastAndLive(number: number): Promise<{ forecast: number; difference: string | undefined }> {
  const random = randomOf(7_000 + number);
  const kinds = Object.keys(KINDS);
  const kind = kinds[number % kinds.length]!;
  const merchant = merchants[Math.floor(number / kinds.length) % merchants.length]!;
  const { id } = await KINDS[kind]!(merchant, random);
  // Webhooks of what has happened are under way until their first attempts are made.
  await until('its webhooks were attempted', async () =>
    (await timelineOf(merchant, id)).next.every(({ text }) => !text.startsWith('Webhook attempt 1 of')),
  );
  const before = await timelineOf(merchant, id);
  const expected = before.forecast.filter(({ event }) => !NOT_BY_CLOCK.includes(event));
  const last = Math.max(Date.now(), ...expected.map(({ at }) => Date.parse(at)));
  const to = new Date(last + 60_000).toISOString();
  const advanced = await merchant.send('POST', `/v1/orders/${id}/test-clock/`, {
    body: { to },
    headers: { 'idempotency-key': newIdempotencyKey() },
  });
  if (advanced.status !== 200) throw new Error(`${kind}: the clock: ${JSON.stringify(advanced.body)}`);
  await until(
    'its clock is there',
    async () => Date.parse((await merchant.getOrder(id)).test_clock!) >= Date.parse(to),
  );
  const after = await timelineOf(merchant, id);
  const known = new Set(before.entries.map((entry) => JSON.stringify(entry)));
  const happened = after.entries.filter(
    (entry) => !known.has(JSON.stringify(entry)) && ![...NOT_BY_CLOCK, 'clock.moved'].includes(entry.event),
  );
  const difference = compare(expected, happened);
  return { forecast: expected.length, difference: difference && `order ${number}, ${kind}: ${difference}` };
}

const nameOf = ({ event, order_id, transaction_id, delivery, text }: Omit<Forecast, 'at' | 'rule'>) =>
  [event, order_id, transaction_id, delivery, text].join(' ');

/**
 * Each forecast entry happened, with the text that it had and perhaps an outcome, not before its instant; no other did.
 */
function compare(expected: readonly Forecast[], happened: readonly Omit<Forecast, 'rule'>[]): string | undefined {
  const sorted = <Entry extends Omit<Forecast, 'rule' | 'at'>>(entries: readonly Entry[]) =>
    entries.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const [forecast, real] = [sorted(expected), sorted(happened)];
  if (forecast.length !== real.length) return `${forecast.length} entries were forecast, ${real.length} happened`;
  for (const [n, entry] of forecast.entries()) {
    const one = real[n]!;
    if (!nameOf(one).startsWith(nameOf(entry))) return `forecast: ${nameOf(entry)}; happened: ${nameOf(one)}`;
    if (Date.parse(one.at) < Date.parse(entry.at)) return `${nameOf(one)} at ${one.at}, which is before ${entry.at}`;
  }
  return undefined;
}

test(`rules 23.12: what is forecast for ${ORDERS} random orders is what happens`, async () => {
  const numbers = Array.from({ length: ORDERS }, (_, n) => n);
  const differences: string[] = [];
  let compared = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        const found = await forecastAndLive(number);
        compared += found.forecast;
        if (found.difference !== undefined) differences.push(found.difference);
      }
    }),
  );
  expect(differences.join('\n')).toBe('');
  expect(compared).toBeGreaterThan(ORDERS);
});

test('rules 23.12: a delayed authorization: its capture, with id and rule; without the parameter there is no forecast', async () => {
  const merchant = merchants[0]!;
  const order = await createAuthorization(merchant, { transaction: { capture_mode: 'delayed' } });
  const { forecast } = await timelineOf(merchant, order.id);
  const mark = ({ event, text, rule }: Forecast) => `${rule} ${event}: ${text}`;
  expect(forecast.filter(({ event }) => !event.startsWith('webhook.')).map(mark)).toEqual([
    '8.2 order.new: Capture of 10.00 EUR requested',
    '8.2 transaction.new: Transaction created',
    '8.2 transaction.accepted: Approved',
    '8.2 order.completed: Capture completed',
  ]);
  const path = `/v1/orders/${order.id}/timeline/`;
  expect((await merchant.send<Timeline>('GET', path)).body).not.toHaveProperty('forecast');
  const wrong = await merchant.send<{ error: RefusalName }>('GET', `${path}?forecast=yes`);
  expect([wrong.status, wrong.body.error.type]).toEqual([400, 'ValidationError']);
});

test('rules 23.12: the attempts of a webhook are forecast to go 90 days after the last one, of real time', async () => {
  const merchant = merchants[0]!;
  const { id } = await merchant.paidOrder('approved');
  const attempted = ({ event }: { event: string }) => event === 'webhook.attempt';
  await until('its webhook was delivered', async () => !(await timelineOf(merchant, id)).next.some(attempted));
  const daysKept = async () => {
    const { entries, forecast } = await timelineOf(merchant, id);
    const [removal, ...rest] = forecast.filter(({ event }) => event === 'webhook.attempts_removed');
    expect([removal, rest]).toMatchObject([{ delivery: 1, rule: '29.1' }, []]);
    return (Date.parse(removal!.at) - Date.parse(entries.find(attempted)!.at)) / 86_400_000;
  };
  expect(await daysKept()).toBe(90);
  const to = new Date(Date.now() + 10 * 86_400_000).toISOString();
  const headers = { 'idempotency-key': newIdempotencyKey() };
  await merchant.send('POST', `/v1/orders/${id}/test-clock/`, { body: { to }, headers });
  expect(await daysKept()).toBeCloseTo(100, 1);
});
