import { until } from '../../test/support/waits';
import { linkPageOf, pagePathOf } from './actor';
import { AUTHORIZED, MANUAL, SALE, type Flow } from './flow';

/** What happens to money after the payment. */
export const MONEY: Flow[] = [
  {
    name: 'captured',
    ends: `completed: accepted | ${AUTHORIZED}, capture approved 1000`,
    act: async (actor) => actor.follow('captures', await actor.paid(MANUAL)),
  },
  {
    name: 'captured-in-parts-rest-voided',
    ends: `completed: accepted | ${AUTHORIZED}, capture approved 200, capture approved 500, void approved 300`,
    async act(actor) {
      const order = await actor.paid(MANUAL);
      await Promise.all([actor.follow('captures', order, 500), actor.follow('captures', order, 200)]);
      await actor.follow('voids', order);
    },
  },
  {
    name: 'capture-refused',
    ends: `completed: accepted | ${AUTHORIZED}, capture refused 1000`,
    act: async (actor) => actor.follow('captures', await actor.paid(MANUAL, 'capture_refused')),
  },
  {
    name: 'voided',
    ends: `completed: cancelled | ${AUTHORIZED}, void approved 1000`,
    act: async (actor) => actor.follow('voids', await actor.paid(MANUAL)),
  },
  {
    name: 'page-authorized-then-captured',
    ends: `completed: accepted | ${AUTHORIZED}, capture approved 1000`,
    async act(actor) {
      const order = await actor.create({ transactions: [{ payment_method: 'credit-card', capture_mode: 'manual' }] });
      await actor.pay(pagePathOf(order), 'approved');
      await actor.untilStatuses(order.id, 'completed: accepted');
      await actor.follow('captures', order);
    },
  },
  {
    name: 'delayed-capture',
    ends: `completed: accepted | ${AUTHORIZED}, capture approved 1000`,
    async act(actor) {
      const order = await actor.paid({ capture_mode: 'delayed', expiration_period: 'P2D' });
      await actor.advance(order.id, 'P3D');
    },
  },
  {
    name: 'window-ended',
    ends: `completed: expired | ${AUTHORIZED}, void approved 1000`,
    async act(actor) {
      const order = await actor.paid({ capture_mode: 'manual', expiration_period: 'P2D' });
      await actor.advance(order.id, 'P3D');
    },
  },
  {
    name: 'refunded',
    ends: `completed: accepted | refund approved 1000, ${SALE}`,
    act: async (actor) => actor.refund(await actor.paid()),
  },
  {
    name: 'refunded-from-two-sides',
    ends: `completed: accepted | refund approved 300, refund approved 700, ${SALE}`,
    async act(actor) {
      const order = await actor.paid();
      await Promise.all([actor.refund(order, 300), actor.refund(order, 700)]);
    },
  },
  {
    name: 'refund-refused',
    ends: `completed: accepted | refund refused 1000, ${SALE}`,
    act: async (actor) => actor.refund(await actor.paid({}, 'refund_refused')),
  },
  {
    name: 'refund-later',
    ends: `completed: accepted | refund approved 1000, ${SALE}`,
    async act(actor) {
      const order = await actor.paid({}, 'refund_processing');
      const refund = await actor.refund(order);
      await actor.untilStatuses(refund.id, 'processing: processing');
      await actor.control('due', { transaction_id: order.transactions![0]!.id });
    },
  },
  {
    name: 'charged-back',
    ends: `completed: accepted | chargeback approved 1000, ${SALE}`,
    async act(actor) {
      const order = await actor.paid();
      await actor.control('chargebacks', { transaction_id: order.transactions![0]!.id });
    },
  },
  {
    name: 'chargeback-won',
    ends: `completed: accepted | chargeback approved 1000, chargeback_reversal approved 1000, ${SALE}`,
    async act(actor) {
      const transaction_id = (await actor.paid()).transactions![0]!.id;
      await actor.control('chargebacks', { transaction_id });
      await actor.control('chargebacks', { transaction_id, operation: 'chargeback_reversal' });
    },
  },
];

/** Payment links. */
export const LINKS: Flow[] = [
  {
    name: 'link-paid',
    ends: `completed: accepted | link completed | ${SALE}`,
    act: async (actor) => actor.pay(linkPageOf(await actor.createLink()), 'approved'),
  },
  {
    name: 'link-declined-then-paid',
    ends: `completed: accepted, error: error | link completed | ${SALE}, sale declined 1000`,
    async act(actor) {
      const link = await actor.createLink();
      await actor.pay(linkPageOf(link), 'do_not_honor');
      await until('the link can be tried again', () => actor.isLink(link.id, 'all_unsuccessful'), 240_000);
      await actor.pay(linkPageOf(link), 'approved');
    },
  },
  {
    name: 'link-ended',
    ends: 'link expired',
    act: async (actor) => actor.send('DELETE', `/v1/paymentlinks/${(await actor.createLink()).id}/`),
  },
  {
    name: 'link-expired',
    ends: 'link expired',
    act: async (actor) => actor.advance((await actor.createLink()).id, 'P31D', 'paymentlinks'),
  },
];

/** Webhooks that are refused, and one that is sent again. */
export const WEBHOOKS: Flow[] = [
  {
    name: 'webhook-at-second',
    ends: `completed: accepted | ${SALE}`,
    refused_webhooks: 1,
    async act(actor) {
      const order = await actor.paid();
      await actor.untilAttempts(order.id, 1);
      await actor.advance(order.id, 'PT3M');
    },
  },
  {
    name: 'webhook-failed',
    ends: `completed: accepted | ${SALE}`,
    refused_webhooks: 1_000,
    async act(actor) {
      const order = await actor.paid();
      await actor.untilAttempts(order.id, 1);
      await actor.advance(order.id, 'PT1H');
    },
  },
  {
    name: 'webhook-redelivered',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const order = await actor.paid();
      await actor.untilDelivered(order.id);
      await actor.send('POST', `/v1/orders/${order.id}/webhooks/1/redeliver/`);
    },
  },
];
