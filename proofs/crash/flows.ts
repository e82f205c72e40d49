import { CUSTOMER } from '../../test/support/domain';
import { pagePathOf } from './actor';
import { SALE, type Flow } from './flow';
import { LINKS, MONEY, WEBHOOKS } from './later-flows';

const PAYMENTS: Flow[] = [
  { name: 'sale', ends: `completed: accepted | ${SALE}`, act: (actor) => actor.charge('approved') },
  { name: 'declined', ends: 'error: error | sale declined 1000', act: (actor) => actor.charge('do_not_honor') },
  {
    name: 'page',
    ends: `completed: accepted | ${SALE}`,
    act: async (actor) => actor.pay(pagePathOf(await actor.create()), 'approved'),
  },
  {
    name: 'page-announced',
    ends: `completed: accepted | ${SALE}`,
    act: async (actor) =>
      actor.pay(
        pagePathOf(await actor.create({ transactions: [{ payment_method: 'credit-card' }] })),
        'approved_mastercard',
      ),
  },
  {
    name: 'page-declined-then-paid',
    ends: `completed: error accepted | ${SALE}, sale declined 1000`,
    async act(actor) {
      const order = await actor.create();
      await actor.pay(pagePathOf(order), 'do_not_honor');
      await actor.untilStatuses(order.id, 'processing: error');
      await actor.pay(pagePathOf(order), 'approved');
    },
  },
  {
    name: 'page-3ds-passed',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const order = await actor.create();
      await actor.pay(pagePathOf(order), 'challenge');
      await actor.answerIssuer(order.id, { code: '0101' });
    },
  },
  {
    name: 'page-3ds-failed-then-paid',
    ends: `completed: error accepted | ${SALE}, sale error 1000`,
    async act(actor) {
      const order = await actor.create();
      await actor.pay(pagePathOf(order), 'challenge');
      await actor.answerIssuer(order.id, { code: '3333' });
      await actor.untilStatuses(order.id, 'processing: error');
      await actor.pay(pagePathOf(order), 'approved');
    },
  },
  {
    name: 'token-3ds-passed',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const order = await actor.charge('challenge');
      await actor.answerIssuer(order.id, { code: '0101' });
    },
  },
  {
    name: 'frictionless',
    ends: `completed: accepted | ${SALE}`,
    act: (actor) => actor.charge('frictionless'),
  },
  {
    name: 'apple-pay',
    ends: `completed: accepted | ${SALE}`,
    act: async (actor) => actor.payByWallet(pagePathOf(await actor.create()), 'apple-pay'),
  },
  {
    name: 'google-pay',
    ends: `completed: accepted | ${SALE}`,
    act: async (actor) => actor.payByWallet(pagePathOf(await actor.create()), 'google-pay'),
  },
  {
    name: 'card-check',
    ends: 'completed: accepted | authorize approved 0',
    act: (actor) => actor.charge('approved', {}, { amount: 0 }),
  },
  {
    name: 'account-funding',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const { payment_method, payment_method_details } = await actor.world.merchant.cardTransaction('approved');
      const receiver = { receiver_account_number: 'DE89370400440532013000', receiver_account_number_type: 'iban' };
      const details = { ...payment_method_details, ...receiver };
      await actor.create({ customer: CUSTOMER, transactions: [{ payment_method, payment_method_details: details }] });
    },
  },
  {
    name: 'answer-lost',
    ends: `completed: accepted | ${SALE}`,
    act: (actor) => actor.charge('lost_answer'),
  },
  {
    name: 'no-answer',
    ends: `completed: accepted | ${SALE}`,
    act: (actor) => actor.charge('no_answer'),
  },
  {
    name: 'outcome-later',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const { id, transactions } = await actor.charge('processing_approved');
      await actor.untilStatuses(id, 'processing: processing');
      await actor.control('due', { transaction_id: transactions![0]!.id });
    },
  },
  {
    name: 'manual-outcome',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const order = await actor.charge('processing_approved');
      const transaction_id = order.transactions![0]!.id;
      await actor.control('faults', { kind: 'outage', operation: 'ask', order_id: order.id });
      await actor.untilStatuses(order.id, 'processing: processing');
      await actor.setOutcome(transaction_id);
      // At last the processor answers, and says the same.
      await actor.endFaults(order.id);
      await actor.control('due', { transaction_id });
    },
  },
  {
    name: 'repeated-key',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const [token, key] = [await actor.world.merchant.cardTransaction('approved'), actor.newKey()];
      await Promise.all([1, 2].map(() => actor.create({ transactions: [token] }, key)));
      await actor.create({ transactions: [token] }, key);
    },
  },
  {
    name: 'changed-then-paid',
    ends: `completed: accepted | ${SALE}`,
    async act(actor) {
      const order = await actor.create();
      await actor.send('PUT', `/v1/orders/${order.id}/`, { description: 'Two books', extra: { shelf: 7 } });
      await actor.pay(pagePathOf(order), 'approved');
    },
  },
  {
    name: 'search-index',
    ends: `completed: accepted | ${SALE}`,
    with_index: true,
    act: (actor) => actor.charge('approved'),
  },
];

const ENDS: Flow[] = [
  { name: 'expired', ends: 'expired:', act: (actor) => actor.create({ expiration_period: 'PT3S' }) },
  {
    name: 'expired-by-clock',
    ends: 'expired: expired',
    async act(actor) {
      const order = await actor.create({ transactions: [{ payment_method: 'credit-card' }] });
      await actor.advance(order.id, 'P1D');
    },
  },
  {
    name: 'expired-after-decline',
    ends: 'expired: error | sale declined 1000',
    async act(actor) {
      const order = await actor.create();
      await actor.pay(pagePathOf(order), 'stolen');
      await actor.untilStatuses(order.id, 'processing: error');
      await actor.advance(order.id, 'P1D');
    },
  },
  { name: 'cancelled', ends: 'cancelled:', act: async (actor) => actor.cancel(await actor.create()) },
  {
    name: 'cancelled-after-decline',
    ends: 'cancelled: error | sale declined 1000',
    async act(actor) {
      const order = await actor.create();
      await actor.pay(pagePathOf(order), 'do_not_honor');
      await actor.untilStatuses(order.id, 'processing: error');
      await actor.cancel(order);
    },
  },
  {
    name: 'cancelled-by-customer',
    ends: 'cancelled: cancelled',
    async act(actor) {
      const order = await actor.create({ transactions: [{ payment_method: 'credit-card' }] });
      await actor.cancelOnPage(pagePathOf(order));
    },
  },
  {
    name: 'late-approval',
    ends: 'cancelled: cancelled | reversal approved 1000, sale approved 1000',
    async act(actor) {
      const order = await actor.charge('challenge');
      await actor.untilStatuses(order.id, 'processing: pending');
      await actor.cancel(order);
      await actor.answerIssuer(order.id, { code: '0101' });
    },
  },
];

/** All flows. Each ends in one way only, however often its processes are killed. */
export const FLOWS: readonly Flow[] = [...PAYMENTS, ...ENDS, ...MONEY, ...LINKS, ...WEBHOOKS];

/** The flows of CI: a payment, money that is captured, a link. */
export const CI_FLOWS = ['page', 'captured', 'link-paid'];
