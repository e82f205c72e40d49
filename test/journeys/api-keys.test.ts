import { EXAMPLES } from '../../src/contract/examples';
import { MERCHANT_API, type MerchantRoutes } from '../../src/contract/merchant-api';
import { successOf, type Route } from '../../src/contract/routes';
import type * as manage from '../../src/client/manage';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { Client } from '../support/customer';
import { Merchant } from '../support/merchant';
import { Operator } from '../support/operator';
import { NOBODY } from '../support/shapes';
import { aRecovery } from '../support/database';
import { stack } from '../support/stack';
import { sendUntilAnswered, until } from '../support/waits';

/**
 * API keys and suspended projects (rules 21.10 to 21.12): every operation of the payments API with every kind of key that
 * belongs to a project.
 */

let operator: Operator;
let project: manage.Project;
let suspended: manage.Project;
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
/** Refused alike for every operation, each of which needs a key (`api/http/app`): a read, a change and a search. */
const REFUSED: readonly Caller[] = ['none', 'revoked', 'rolled_after'];
const SOME: typeof ids = ['getOrder', 'createOrder', 'searchOrders'];
/** Treated alike for every operation. */
const ALIKE: readonly Caller[] = [...REFUSED, 'rolled_within'];
const cells = CALLERS.flatMap((caller) => (ALIKE.includes(caller) ? SOME : ids).map((id) => [caller, id] as const));
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
  // Nobody listens there, so the check ends soon.
  createReceiverCheck: { webhook_url: 'http://127.0.0.1:1/' },
  updateOrder: { description: 'Two maps' },
  advanceOrderClock: { advance: 'PT1S' },
  advancePaymentLinkClock: { advance: 'PT1S' },
  refundOrder: { amount: 100 },
  captureTransactionAmount: { amount: 100, description: 'A part' },
  voidTransactionAmount: { amount: 100, description: 'A part' },
  searchOrders: { query: '*' },
};
/** What a suspended project does not take. */
const NEW: readonly (keyof MerchantRoutes)[] = ['createOrder', 'createPaymentLink', 'createReceiverCheck'];

function expectedOf(id: keyof MerchantRoutes, caller: Caller): number {
  const route: Route = MERCHANT_API.routes[id];
  if (REFUSED.includes(caller)) return 401;
  if (caller === 'other') return route.params === undefined ? successOf(route) : 401;
  // The recovery has been stopped.
  if (isOfRecovery(id)) return id === 'getWebhookRecovery' ? 200 : 409;
  return caller === 'suspended' && NEW.includes(id) ? 403 : successOf(route);
}

const isOfRecovery = (id: keyof MerchantRoutes) => MERCHANT_API.routes[id].path.includes('{recovery_id}');

/** The path with an order or link of the shop; of nobody where the key is refused before anybody looks. */
async function pathOf(id: keyof MerchantRoutes, shop: Merchant | undefined): Promise<string> {
  const { path } = MERCHANT_API.routes[id];
  if (!path.includes('{')) return path;
  const nobody = { order_id: NOBODY, transaction_id: NOBODY, payment_link_id: NOBODY, request_id: NOBODY };
  let values: Record<string, string> = { ...nobody, check_id: NOBODY, recovery_id: NOBODY, n: '1' };
  if (shop !== undefined && path.includes('{request_id}')) {
    values = { request_id: await loggedRequest(shop) };
  } else if (shop !== undefined && path.includes('{check_id}')) {
    values = { check_id: await aReceiverCheck(shop) };
  } else if (shop !== undefined && isOfRecovery(id)) {
    const { id: project_id } = shop === shops.project ? project : suspended;
    values = { recovery_id: await aRecovery(project_id, 'stopped') };
  } else if (shop !== undefined && path.includes('{payment_link_id}')) {
    values = { payment_link_id: (await shop.createPaymentLink()).id };
  } else if (shop !== undefined) {
    const order = await orderFor(id, shop);
    values = { order_id: order.id!, transaction_id: order.transactions?.[0]?.id ?? NOBODY, n: '1' };
  }
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => values[name]!);
}

/** The id of a request of the shop, once its request log has it. */
async function loggedRequest(shop: Merchant): Promise<string> {
  const { headers } = await shop.send('GET', MERCHANT_API.routes.getProject.path);
  const request_id = headers.get('x-request-id')!;
  const isLogged = async () => (await shop.send('GET', `/v1/requests/${request_id}/`)).status === 200;
  await until('the request is logged', isLogged);
  return request_id;
}

/** The id of a check of the shop that has ended: one runs at a time. */
async function aReceiverCheck(shop: Merchant): Promise<string> {
  const body = BODIES.createReceiverCheck;
  const { id } = (await shop.send<{ id: string }>('POST', MERCHANT_API.routes.createReceiverCheck.path, { body })).body;
  const path = MERCHANT_API.routes.getReceiverCheck.path.replace('{check_id}', id);
  await until('the check has ended', async () => {
    const { status } = (await shop.send<{ status: string }>('GET', path)).body;
    return status === 'done';
  });
  return id;
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
    const prepare = (shop: 'project' | 'suspended') =>
      severalAtOnce(4, ids, async (id) => paths.set(`${shop} ${id}`, await pathOf(id, shops[shop])));
    await Promise.all([prepare('project'), prepare('suspended')]);
    // The first search after a pause waits for the index, which a busy machine may not write in time.
    const search = { body: BODIES.searchOrders! };
    await sendUntilAnswered(() => shops.project!.send('POST', MERCHANT_API.routes.searchOrders.path, search));
    await operator.update(suspended, { status: 'suspended' });
  });
  /**
   * Whose objects a key is used on: those that the key `other` was refused are still there for the key of their
   * project.
   */
  const SHOP_OF: Partial<Record<Caller, string>> = {
    other: 'project',
    rolled_within: 'project',
    suspended: 'suspended',
  };

  test.each(cells)('rules 21.10: with the key %s: %s', async (caller, id) => {
    const route: Route = MERCHANT_API.routes[id];
    const example: { body?: unknown; answer: unknown } = EXAMPLES[id];
    const body = BODIES[id] ?? (route.body_optional ? undefined : example.body);
    const path = paths.get(`${SHOP_OF[caller]} ${id}`) ?? (await pathOf(id, undefined));
    const headers: Record<string, string> = caller === 'none' ? { authorization: '' } : {};
    const shop = new Merchant(stack(), keys[caller] ?? 'none');
    const answer = await shop.send(route.method.toUpperCase(), path, { headers, ...(body !== undefined && { body }) });
    expect([answer.status, answer.status === 200 || answer.body]).toEqual([
      expectedOf(id, caller),
      answer.status === 200 || answer.body,
    ]);
  });
});

test('rules 21.10: a suspended project pays nothing on its pages, says so, lets customers cancel, and goes on when it is active again', async () => {
  const mine = await operator.aProject();
  const shop = await operator.aShop(mine);
  const [order, cancelled, link] = [await shop.createOrder(), await shop.createOrder(), await shop.createPaymentLink()];
  const customer = new Client();
  const path = `/pay/${cancelled.id}/`;
  const { token } = await customer.openPage(cancelled);
  await operator.update(mine, { status: 'suspended' });
  const pages = [order.order_url!, link.payment_url!];
  const read = async (url: string) => await (await fetch(url)).text();
  for (const url of pages) expect(await read(url)).toContain('takes no payments at the moment');
  // A page that was opened before still has its button.
  expect(await (await customer.postForm(`${path}cancel/`, { token })).text()).toContain('Payment cancelled');
  expect((await shop.getOrder(cancelled.id)).status).toBe('cancelled');
  await operator.update(mine, { status: 'active' });
  for (const url of pages) expect(await read(url)).not.toContain('takes no payments at the moment');
  expect((await shop.getProject()).status).toMatch(/^(active-testing|suspended)$/);
});

test('rules 2.6: a request that waits when its key is revoked is refused', async () => {
  const project = await operator.aProject();
  const [kept, revoked] = [await operator.aKey(project), await operator.aKey(project)];
  const merchant = new Merchant(stack(), kept.key);
  const { id } = await merchant.createOrder();
  const headers = { prefer: 'wait=60' };
  const waits = [kept, revoked].map(({ key }) =>
    new Merchant(stack(), key).send('GET', `/v1/orders/${id}/`, { headers }),
  );
  const read = async () => (await new Merchant(stack(), revoked.key).send('GET', `/v1/orders/${id}/`)).status;
  // Meanwhile both begin to wait.
  for (let n = 0; n < 10; n += 1) expect(await read()).toBe(200);
  await operator.revoke(revoked);
  await until('it is known', async () => (await read()) === 401);
  await merchant.cancelOrder(id);
  expect((await Promise.all(waits)).map(({ status }) => status)).toEqual([200, 401]);
});

/** Milliseconds after which every process knows that a key has ended. */
const KNOWN_AFTER_MS = 2_000;

test('a key that is used and then revoked is refused after two seconds at most', async () => {
  const key = await operator.aKey(await operator.aProject());
  const use = async () =>
    (await new Merchant(stack(), key.key).send('GET', '/v1/merchants/self/projects/self/')).status;
  expect(await use()).toBe(200);
  await operator.revoke(key);
  const revoked_at = Date.now();
  await until('it is refused', async () => {
    const sent_at = Date.now();
    const status = await use();
    if (sent_at > revoked_at + KNOWN_AFTER_MS) expect(status).toBe(401);
    return status === 401;
  });
});
