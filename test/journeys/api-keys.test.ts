import { EXAMPLES } from '../../src/contract/examples';
import { MERCHANT_API, type MerchantRoutes } from '../../src/contract/merchant-api';
import type { Route } from '../../src/contract/routes';
import type { NewApiKey, Project } from '../../src/client/manage';
import { Merchant, type Answer } from '../support/client';
import { Operator } from '../support/manager';
import { NOBODY } from '../support/shapes';
import { stack } from '../support/stack';
import { until } from '../support/until';

/**
 * API keys and suspended projects (rules 21.10 to 21.12): every operation of the payments API with every kind of key.
 */

let operator: Operator;
let project: Project;
let suspended: Project;
/** Makes the orders, with keys that no cell uses: no process remembers those of the cells. */
const shops: Partial<Record<'project' | 'suspended', Merchant>> = {};
const keys: Partial<Record<Caller, string | undefined>> = {};

const CALLERS = ['none', 'other', 'revoked', 'rolled_within', 'rolled_after', 'suspended'] as const;
type Caller = (typeof CALLERS)[number];

beforeAll(async () => {
  operator = await Operator.signIn();
  [project, suspended] = [await operator.aProject(), await operator.aProject()];
  shops.project = await operator.aShop(project);
  shops.suspended = await operator.aShop(suspended);
  const [revoked, within, after] = [
    await operator.aKey(project),
    await operator.aKey(project),
    await operator.aKey(project),
  ];
  await operator.revoke(revoked);
  await operator.roll(within, 'PT1H');
  await operator.roll(after, 'PT0S');
  Object.assign(keys, {
    other: (await operator.aKey(await operator.aProject())).key,
    revoked: revoked.key,
    rolled_within: within.key,
    rolled_after: after.key,
    suspended: (await operator.aKey(suspended)).key,
  });
});

const ids = Object.keys(MERCHANT_API.routes) as (keyof MerchantRoutes)[];
const cells = CALLERS.flatMap((caller) => ids.map((id) => [caller, id] as const));
/** What the shop has to have ready for an operation on an order. */
const NEEDS: Partial<Record<keyof MerchantRoutes, 'payment' | 'authorization'>> = {
  refundOrder: 'payment',
  redeliverOrderWebhook: 'payment',
  captureTransaction: 'authorization',
  captureTransactionAmount: 'authorization',
  voidTransaction: 'authorization',
  voidTransactionAmount: 'authorization',
};
const BODIES: Partial<Record<keyof MerchantRoutes, object>> = {
  createOrder: { currency: 'EUR', amount: 100 },
  createPaymentLink: { currency: 'EUR', amount: 100, merchant_order_id: 'L-1' },
  updateOrder: { description: 'Two maps' },
  moveOrderClock: { advance: 'PT1S' },
  movePaymentLinkClock: { advance: 'PT1S' },
  refundOrder: { amount: 100 },
  captureTransactionAmount: { amount: 100, description: 'A part' },
  voidTransactionAmount: { amount: 100, description: 'A part' },
  searchOrders: { query: '*' },
};
/** What a suspended project does not take. */
const NEW: readonly (keyof MerchantRoutes)[] = ['createOrder', 'createPaymentLink'];

function expectedOf(id: keyof MerchantRoutes, caller: Caller): number {
  const route: Route = MERCHANT_API.routes[id];
  if (caller === 'none' || caller === 'revoked' || caller === 'rolled_after') return 401;
  if (caller === 'other') return route.params === undefined ? route.success : 401;
  return caller === 'suspended' && NEW.includes(id) ? 403 : route.success;
}

/** The path with an order or link of the shop; of nobody where the key is refused before anybody looks. */
async function pathOf(id: keyof MerchantRoutes, shop: Merchant | undefined): Promise<string> {
  const { path } = MERCHANT_API.routes[id];
  if (!path.includes('{')) return path;
  let values: Record<string, string> = { order_id: NOBODY, transaction_id: NOBODY, payment_link_id: NOBODY, n: '1' };
  if (shop !== undefined && path.includes('{payment_link_id}')) {
    values = { payment_link_id: (await shop.createPaymentLink()).id };
  } else if (shop !== undefined) {
    const order = await orderFor(id, shop);
    values = { order_id: order.id!, transaction_id: order.transactions?.[0]?.id ?? NOBODY, n: '1' };
  }
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => values[name]!);
}

async function orderFor(id: keyof MerchantRoutes, shop: Merchant) {
  const need = NEEDS[id];
  if (need === undefined) return await shop.createOrder();
  // Nobody listens there: the webhook is on its way for twenty minutes.
  if (need === 'payment') return await shop.paidOrder('approved', { webhook_url: 'http://127.0.0.1:1/' });
  const transaction = { ...(await shop.cardTransaction('approved')), capture_mode: 'manual' as const };
  return await shop.untilOutcomeKnown(await shop.createOrder({ transactions: [transaction] }));
}

describe('every operation', () => {
  const paths = new Map<string, string>();
  beforeAll(async () => {
    for (const id of ids) {
      for (const [caller, shop] of [
        ['rolled_within', shops.project],
        ['other', shops.project],
        ['suspended', shops.suspended],
      ] as const) {
        paths.set(`${caller} ${id}`, await pathOf(id, shop));
      }
    }
    await operator.update(suspended, { status: 'suspended' });
  });

  test.each(cells)('with the key %s: %s', async (caller, id) => {
    const route: Route = MERCHANT_API.routes[id];
    const example: { body?: unknown; answer: unknown } = EXAMPLES[id];
    const body = route.body_optional ? undefined : (BODIES[id] ?? example.body);
    const path = paths.get(`${caller} ${id}`) ?? (await pathOf(id, undefined));
    const headers: Record<string, string> = caller === 'none' ? { authorization: '' } : {};
    const shop = new Merchant(stack(), keys[caller] ?? 'none');
    const answer = await shop.send(route.method.toUpperCase(), path, { headers, ...(body !== undefined && { body }) });
    expect([answer.status, answer.status === 200 || answer.body]).toEqual([
      expectedOf(id, caller),
      answer.status === 200 || answer.body,
    ]);
  });
});

test('a suspended project pays nothing on its pages, says so, and goes on when it is active again', async () => {
  const mine = await operator.aProject();
  const shop = await operator.aShop(mine);
  const [order, link] = [await shop.createOrder(), await shop.createPaymentLink()];
  await operator.update(mine, { status: 'suspended' });
  const pages = [order.order_url!, link.payment_url!];
  const read = async (url: string) => await (await fetch(url)).text();
  for (const url of pages) expect(await read(url)).toContain('takes no payments at the moment');
  await operator.update(mine, { status: 'active' });
  for (const url of pages) expect(await read(url)).not.toContain('takes no payments at the moment');
  expect((await shop.getProject()).status).toMatch(/^(active-testing|suspended)$/);
});

test('while a key is rolled and requests run, nobody sees a 401; after it is revoked everybody does within two seconds', async () => {
  const mine = await operator.aProject();
  let key: NewApiKey = await operator.aKey(mine);
  const old = key;
  const refused: Answer[] = [];
  let running = true;
  let sent = 0;
  const caller = async () => {
    while (running) {
      const answer = await new Merchant(stack(), key.key).send('GET', '/v1/merchants/self/projects/self/');
      sent += 1;
      if (answer.status !== 200) refused.push(answer);
    }
  };
  const callers = Array.from({ length: 4 }, caller);
  await until('requests run', () => Promise.resolve(sent > 50));
  const rolled = await operator.roll(old, 'PT1H');
  const during = sent;
  await until('the old key is used during the overlap', () => Promise.resolve(sent > during + 50));
  key = rolled;
  await until('the new key is used', () => Promise.resolve(sent > during + 150));
  running = false;
  await Promise.all(callers);
  expect(refused).toEqual([]);

  await operator.revoke(old);
  const revoked_at = Date.now();
  await until('the revoked key is refused', async () => {
    const { status } = await new Merchant(stack(), old.key).send('GET', '/v1/merchants/self/projects/self/');
    return status === 401;
  });
  // Remembered for a second; the rest is for a busy machine.
  expect(Date.now() - revoked_at).toBeLessThan(2_000);
  expect((await new Merchant(stack(), rolled.key).getProject()).id).toBe(mine.id);
});
