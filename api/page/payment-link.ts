import type { Database } from '../../src/db/query';
import { findStoredOrders, type StoredOrder } from '../../src/db/orders/stored-order';
import { findStoredPaymentLink, type StoredPaymentLink } from '../../src/db/payment-links';
import { parseDuration } from '../../src/domain/duration';
import { linkPagePath } from '../../src/domain/page-paths';
import { PAYMENT_LINK_ATTEMPTS_MAX, linkObstacle, type LinkObstacle } from '../../src/domain/payment-link';
import { paymentPeriod } from '../../src/domain/payment-period';
import { ORDER_MOVES, isFinal } from '../../src/domain/transitions';
import { linkOrderId, transactionId } from '../../src/ids';
import type { OrderWorkflows } from '../../src/temporal/orders';
import type { CreateOrderInput } from '../../workflows/messages';
import { currentTimeOf } from '../../src/time';
import { failureOf, lateApprovalOf, mayBeApproved, toOrderPayable as orderToPayable } from './order';
import {
  factsOf,
  suspendedState,
  pageMethods,
  type AttemptFailure,
  type CardPayment,
  type PageOutcome,
  type Payable,
  type Payables,
  type PaymentState,
  type Visit,
} from './payable';

/** Payment links on their hosted pages (rules 19). */

/** The longest time in which the order of an attempt can be paid; it never ends after its link. */
const ORDER_PERIOD = 'PT30M';

/** A link as one customer sees it. */
interface LinkPayable extends Payable {
  link: StoredPaymentLink;
  /** The customer's browser, and the orders of its attempts, oldest first. */
  payer: string | undefined;
  own_orders: readonly StoredOrder[];
}

interface LinkServices {
  db: Database;
  orders: Pick<OrderWorkflows, 'create' | 'cancel'>;
}

/**
 * Loads and pays links for their pages. Each attempt makes an order whose id derives from the payer's cookie and the
 * number of the payer's attempts: a second click is the same attempt, and a customer never sees the attempt of another
 * one.
 */
export function linkPayables({ db, orders }: LinkServices): Payables<LinkPayable> {
  async function find(id: string, { payer }: Visit): Promise<LinkPayable | undefined> {
    const link = await findStoredPaymentLink(db, id);
    if (link === undefined) return undefined;
    const own_ids = ownOrderIds(link, payer);
    const found = own_ids.length === 0 ? [] : await findStoredOrders(db, link.project_id, own_ids);
    const own_orders = own_ids.flatMap((own_id) => found.filter((order) => order.id === own_id));
    return toLinkPayable(link, { payer, own_orders }, currentTimeOf(link));
  }

  return {
    find,
    /** The statement that writes the order decides whether the link takes the attempt (rules 19.4). */
    async pay({ link, payer, own_orders }, payment, request) {
      const own = await orders.create({ request, ...paymentInput(link, payer, payment) });
      // Once the payer has paid, the page shows nothing that the attempt has changed in the link.
      if (own.status !== 'completed') return (await find(link.id, { payer }))!;
      return toLinkPayable(link, { payer, own_orders: [...own_orders, own] }, currentTimeOf(own));
    },
    /** Cancels the customer's own attempt; the link stays open. */
    async cancel({ own_orders }, request) {
      const own = own_orders.at(-1);
      if (own === undefined) return false;
      const { status } = await orders.cancel(own.id, { source: 'customer', request });
      return status === 'cancelled';
    },
    // The issuer sends customers to the page of the order.
    returnFromIssuer: async (payable) => payable,
  };
}

const attemptOrderId = (link_id: string, payer: string, attempt: number) => linkOrderId(link_id, `${payer}:${attempt}`);

/** The orders of this payer's attempts, in their order. */
function ownOrderIds({ id, orders }: StoredPaymentLink, payer: string | undefined): string[] {
  if (payer === undefined) return [];
  const made = new Set(orders.map((order) => order.id));
  const own: string[] = [];
  for (;;) {
    const order_id = attemptOrderId(id, payer, own.length + 1);
    if (!made.has(order_id)) return own;
    own.push(order_id);
  }
}

/** A link as this payer's page shows it. `now`: the link's time, epoch milliseconds. */
export function toLinkPayable(
  link: StoredPaymentLink,
  { payer, own_orders }: Pick<LinkPayable, 'payer' | 'own_orders'>,
  now: number,
): LinkPayable {
  const { payment_methods, project_payment_methods } = link;
  const own = own_orders.at(-1);
  const paid = own?.status === 'completed' ? orderToPayable(own, now).paid_with : undefined;
  return {
    ...factsOf(link, now),
    path: linkPagePath(link.id),
    locales: [],
    methods: pageMethods(payment_methods?.length ? payment_methods : project_payment_methods, project_payment_methods),
    state: stateOf(link, own_orders, now),
    paid_with: paid,
    is_cancelled: own?.status === 'cancelled',
    may_be_approved: own_orders.some((one) => mayBeApproved(one, now)),
    link,
    payer,
    own_orders,
  };
}

/** How a link ended for a customer who has not paid it. */
const ENDED: Record<Exclude<LinkObstacle, 'in_progress'>, PageOutcome> = {
  completed: 'already_paid',
  expired: 'link_expired',
  no_attempt_left: 'no_attempts_left',
};

function stateOf(link: StoredPaymentLink, own_orders: readonly StoredOrder[], now: number): PaymentState {
  const own = own_orders.at(-1);
  const late_approval = lateApprovalOf(own_orders);
  if (own !== undefined && (own.status === 'completed' || !isFinal(ORDER_MOVES, own.status))) {
    const { state } = orderToPayable(own, now);
    if (state.kind !== 'ended') return state;
    if (state.outcome === 'completed') return { ...state, late_approval };
    // Its time is over and its timer has not fired yet: the link takes no attempt until then.
  }
  const last_failure = own && attemptFailure(own);
  const expires_at = Date.parse(link.expires_at);
  const obstacle = linkObstacle({ ...link, expires_at }, now);
  if (obstacle === 'in_progress') {
    return { kind: 'waiting', waiting_for: 'other_payment', cancellable: false, challenge_url: undefined };
  }
  if (obstacle !== undefined) {
    const outcome = link.ended_by === 'merchant' ? 'ended_by_merchant' : ENDED[obstacle];
    return { kind: 'ended', outcome, last_failure, late_approval, return_address: undefined };
  }
  if (link.project_status === 'suspended') return suspendedState(late_approval);
  const attempts_left = PAYMENT_LINK_ATTEMPTS_MAX - link.attempts;
  // Nothing is begun that could be cancelled: the link stays for the next customer.
  const nothing_begun = { cancellable: false, charge_began: false };
  const attempt = own_orders.length + 1;
  return { kind: 'payable', attempt, attempts_left, last_failure, late_approval, ...nothing_begun, expires_at };
}

/** Why the payer's last attempt failed; `undefined` while it has not, or if it was approved after its end. */
function attemptFailure(order: StoredOrder): AttemptFailure | undefined {
  const { status, transactions } = order;
  const failure = failureOf(order);
  const last = transactions.at(-1);
  if (failure !== undefined || last === undefined || !isFinal(ORDER_MOVES, status)) return failure;
  if (lateApprovalOf([order]) !== undefined) return undefined;
  const reason = status === 'cancelled' ? 'cancelled' : 'failed';
  return { reason, payment_method: last.payment_method, response_code: undefined };
}

/** The order that an attempt makes, and its charge (rules 19.2). */
function paymentInput(
  link: StoredPaymentLink,
  payer: string | undefined,
  { attempt, payment_method, card: { brand, ...card } }: CardPayment,
): Omit<CreateOrderInput, 'request'> {
  if (payer === undefined) throw new Error('a form without its cookie is refused before');
  const { project_id, merchant_order_id, description, amount, currency, payment_methods, return_url, webhook_url } =
    link;
  const id = attemptOrderId(link.id, payer, attempt);
  return {
    order: {
      id,
      project_id,
      merchant_order_id,
      description: description ?? undefined,
      amount,
      currency,
      payment_methods: payment_methods ?? undefined,
      return_url: return_url ?? undefined,
      webhook_url: webhook_url ?? undefined,
      expiration_period: ORDER_PERIOD,
      attempts_max: 1,
      charged_by: 'token',
    },
    period: parseDuration(ORDER_PERIOD),
    is_test: link.is_test,
    transaction: {
      id: transactionId(id, 1),
      attempt: 1,
      payment_method,
      payment_method_brand: brand,
      payment_method_details: card,
      ...paymentPeriod({}, link.transaction_expiration_period),
    },
    payment_link: { id: link.id, expires_at: Date.parse(link.expires_at), clock_offset_ms: link.clock_offset_ms },
  };
}
