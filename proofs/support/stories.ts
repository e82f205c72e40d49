import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../../src/contract/order';
import { Client } from '../../test/support/customer';
import type { CardName } from '../../test/support/domain';
import { answerIssuer } from '../../test/support/processor';
import type { ShopStory, Shop } from './shop';

/** What merchants and customers do with an order or a link. */

const isFinal = ({ status }: Order) => ['completed', 'error', 'cancelled', 'expired'].includes(status);
const declines: CardName[] = ['do_not_honor', 'stolen', 'insufficient_funds'];
const late: CardName[] = ['no_answer', 'lost_answer', 'error_then_fine', 'processing_approved', 'processing_declined'];
const page = ({ id }: { id: string }) => `/pay/${id}/`;

/** Charged at once with a card token, until its outcome is known. */
async function charged(shop: Shop, card: CardName, fields: Record<string, unknown> = {}): Promise<Order> {
  const { id } = await shop.createOrder({ transactions: [await shop.cardTransaction(card, fields)] } as never);
  return await shop.untilOrder(id, 'final', isFinal);
}

type FollowUp = 'refund' | 'capture' | 'void';

/** A refund, capture or void, after which the processor has several operations of the order to notify about. */
async function follow(shop: Shop, what: FollowUp, order: Order, amount?: number): Promise<void> {
  const followed = sendFollowUp(shop, what, order, amount);
  shop.maybeNotify(order.id, ['twice', 'late', 'out of order'], followed);
  await followed;
}

/** The state may refuse it; without an amount it is of all that is left. */
async function sendFollowUp(shop: Shop, what: FollowUp, order: Order, amount?: number): Promise<void> {
  await shop.maybeFault({ order_id: order.id, operation: what });
  const of_order = `/v1/orders/${order.id}/`;
  const of_transaction = `${of_order}transactions/${order.transactions!.at(-1)!.id}/`;
  if (what === 'refund') await shop.send(what, 'POST', `${of_order}refunds/`, amount === undefined ? {} : { amount });
  else if (amount === undefined) await shop.send(what, 'POST', `${of_transaction}${what}s/`);
  else await shop.send(what, 'POST', `${of_transaction}${what}s/amount/`, { amount, description: 'a part' });
}

/** The customer answers the issuer's question, which the page leads to. */
async function answerIssuerOf(shop: Shop, order: { id: string }, code: string): Promise<void> {
  await shop.untilOrder(order.id, 'at the issuer', ({ transactions }) => transactions?.at(-1)?.status === 'pending');
  const customer = new Client(shop.merchant.stack.api_url);
  const address = await shop.eventually('the address of the issuer', () => customer.issuerAt(page(order)));
  // The issuer's page fails while its database restarts: the customer sends the code again.
  await shop.eventually('the issuer', async () => (await answerIssuer(address, { code })).status < 500 || undefined);
}

const half = ({ amount }: Order) => Math.ceil(amount / 2);

/** By name: how often, and what happens. */
export const STORIES: Readonly<Record<string, { weight: number; play: ShopStory }>> = {
  'sale by card token': { weight: 16, play: async (shop) => void (await charged(shop, 'approved')) },
  'sale that is declined': { weight: 5, play: async (shop) => void (await charged(shop, shop.pick(declines))) },
  'sale that is refunded': {
    weight: 12,
    async play(shop) {
      const order = await charged(shop, shop.pick(['approved', 'refund_processing', 'refund_refused']));
      await follow(shop, 'refund', order, half(order));
      await Promise.all([follow(shop, 'refund', order, half(order)), follow(shop, 'refund', order)]);
    },
  },
  'sale whose outcome comes late': { weight: 6, play: async (shop) => void (await charged(shop, shop.pick(late))) },
  'sale that is charged back': {
    weight: 4,
    play: async (shop) => void (await charged(shop, shop.pick(['chargeback', 'chargeback_won']))),
  },
  'authorization that is captured and voided': {
    weight: 12,
    async play(shop) {
      const order = await charged(shop, shop.pick(['approved', 'capture_refused']), { capture_mode: 'manual' });
      const third = Math.ceil(order.amount / 3);
      await Promise.all([follow(shop, 'capture', order, third), follow(shop, 'capture', order, third)]);
      await follow(shop, 'void', order);
      await follow(shop, 'refund', order, third);
    },
  },
  'authorization that is voided': {
    weight: 5,
    async play(shop) {
      const order = await charged(shop, 'approved', { capture_mode: 'manual' });
      await Promise.all([follow(shop, 'void', order), follow(shop, 'void', order)]);
    },
  },
  'authorization whose window ends': {
    weight: 5,
    async play(shop) {
      const fields = { capture_mode: shop.pick(['manual', 'delayed']), expiration_period: 'PT5S' };
      await charged(shop, 'approved', fields);
    },
  },
  'paid on the page': {
    weight: 10,
    async play(shop) {
      const order = await shop.createOrder();
      await shop.maybeFault({ order_id: order.id, operation: 'sale' });
      if (shop.chance(0.3)) await shop.payByWallet(order.id);
      else await shop.payOnPage(page(order), 'approved');
      await shop.untilOrder(order.id, 'final', isFinal);
    },
  },
  'declined on the page, then paid': {
    weight: 5,
    async play(shop) {
      const order = await shop.createOrder();
      await shop.payOnPage(page(order), shop.pick(declines));
      const isKnown = ({ transactions }: Order) => transactions?.at(-1)?.status === 'error';
      await shop.untilOrder(order.id, 'declined', (one) => isKnown(one) || isFinal(one));
      await shop.payOnPage(page(order), 'approved');
      await shop.untilOrder(order.id, 'final', isFinal);
    },
  },
  '3-D Secure': {
    weight: 6,
    async play(shop) {
      const order = await shop.createOrder();
      await shop.payOnPage(page(order), 'challenge');
      await answerIssuerOf(shop, order, shop.pick(['0101', '3333']));
      await shop.untilOrder(order.id, 'answered', ({ transactions }) => transactions?.at(-1)?.status !== 'pending');
    },
  },
  'cancelled while it is paid': {
    weight: 6,
    async play(shop) {
      const order = await shop.createOrder();
      const pay = shop.chance(0.5) ? shop.payOnPage(page(order), 'approved') : undefined;
      await sleep(shop.random() * 100);
      await Promise.all([pay, shop.send('cancel', 'DELETE', `/v1/orders/${order.id}/`)]);
    },
  },
  'order that expires': {
    weight: 3,
    async play(shop) {
      const order = await shop.createOrder({ expiration_period: 'PT5S' });
      if (shop.chance(0.5)) {
        await sleep(shop.random() * 5_500);
        await shop.payOnPage(page(order), 'approved');
      }
      await shop.untilOrder(order.id, 'final', isFinal);
    },
  },
  'payment link with three payers': {
    weight: 5,
    async play(shop) {
      const link = await shop.createLink();
      await shop.payOnPage(link, shop.pick(declines));
      await Promise.all([0, 1, 2].map(() => shop.payOnPage(link, 'approved')));
    },
  },
};
