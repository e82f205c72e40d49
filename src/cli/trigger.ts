import {
  cancelOrder,
  captureTransaction,
  createOrder,
  getOrder,
  ok,
  refundOrder,
  voidTransaction,
  type Order,
  type OrderRequest,
} from '../client';
import { TEST_CARDS, type TestCardName } from '../simulator/cards';
import { PageCustomer } from './page-customer';
import { CommandError, call, requireTestProject, type Place } from './place';

/** What happens to a paid or open order, beside the cards. */
const EVENTS = {
  cancel: 'An order that is cancelled before it is paid.',
  capture: 'An authorization that is captured.',
  refund: 'A paid order that is refunded.',
  void: 'An authorization that is voided.',
} as const;
type EventName = keyof typeof EVENTS;

/** Every kind of order that `payments trigger` makes, with its meaning. */
export const TRIGGERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(TEST_CARDS).map(([name, { meaning }]) => [name, meaning])),
  ...EVENTS,
};

/** The code that passes the simulator's 3-D Secure challenge. */
const CHALLENGE_CODE = '0101';

/**
 * Makes an order of that kind: created over the API, paid on the hosted page, as a merchant and a customer do (rules
 * 13.22), in EUR or else in the first currency of the project. Returns it as it is then. Throws CommandError for an
 * unknown kind, a live project and a refusal.
 */
export async function trigger(place: Place, name: string, fields: Partial<OrderRequest> = {}): Promise<Order> {
  if (!Object.hasOwn(TRIGGERS, name)) {
    throw new CommandError(`There is no ${name}. Known: ${Object.keys(TRIGGERS).join(', ')}.`);
  }
  const { currencies } = await requireTestProject(place);
  const order_fields = { currency: currencies.includes('EUR') ? 'EUR' : currencies[0]!, ...fields };
  const order = Object.hasOwn(EVENTS, name)
    ? await EVENT_ORDERS[name as EventName](place, order_fields)
    : await pay(place, order_fields, name as TestCardName);
  return await call(place, (options) => ok(getOrder({ orderId: order.id }, options)));
}

type OrderFields = Partial<OrderRequest> & Pick<OrderRequest, 'currency'>;
type MakeOrder = (place: Place, fields: OrderFields) => Promise<Order>;

const EVENT_ORDERS: Readonly<Record<EventName, MakeOrder>> = {
  async cancel(place, fields) {
    const order = await create(place, fields);
    return await call(place, (options) => ok(cancelOrder({ orderId: order.id }, options)));
  },
  async capture(place, fields) {
    const order = await pay(place, { ...fields, ...AUTHORIZATION }, 'approved');
    await call(place, (options) => ok(captureTransaction({ ...transactionOf(order), body: {} }, options)));
    return order;
  },
  async refund(place, fields) {
    const { id: orderId, amount } = await pay(place, fields, 'approved');
    return await call(place, (options) => ok(refundOrder({ orderId, body: { amount } }, options)));
  },
  async void(place, fields) {
    const order = await pay(place, { ...fields, ...AUTHORIZATION }, 'approved');
    await call(place, (options) => ok(voidTransaction({ ...transactionOf(order), body: {} }, options)));
    return order;
  },
};

const AUTHORIZATION = { transactions: [{ payment_method: 'credit-card' as const, capture_mode: 'manual' as const }] };

const transactionOf = ({ id, transactions }: Order) => ({ orderId: id, transactionId: transactions![0]!.id });

async function create(place: Place, fields: OrderFields): Promise<Order> {
  const orderRequest = { amount: 1_250, description: 'Made by payments trigger', ...fields };
  return await call(place, (options) => ok(createOrder({ orderRequest }, options)));
}

/** Creates an order and pays it with a test card. A 3-D Secure challenge is passed. */
async function pay(place: Place, fields: OrderFields, card: TestCardName): Promise<Order> {
  const order = await create(place, fields);
  const { origin, pathname } = new URL(order.order_url!);
  const customer = new PageCustomer(origin);
  const answer = await customer.postForm(pathname, {
    number: TEST_CARDS[card].number,
    card_expiry: `12 / ${String(new Date().getUTCFullYear() + 3).slice(-2)}`,
    security_code: '123',
    cardholder_name: 'Test Customer',
    ...(await customer.openPage(order, pathname)),
  });
  if (answer.status >= 400) throw new CommandError(`The payment page answered ${answer.status}: ${order.order_url}`);
  const issuer = await customer.issuerAt(pathname);
  if (issuer !== undefined) await customer.answerIssuer(issuer, { code: CHALLENGE_CODE });
  return await call(place, (options) => ok(getOrder({ orderId: order.id }, options)));
}
