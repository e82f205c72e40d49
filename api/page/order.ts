import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../src/db/query';
import {
  findOrderVersion,
  findStoredOrder,
  type StoredOrder,
  type StoredTransaction,
} from '../../src/db/orders/stored-order';
import { awaitsReconciliation } from '../../src/db/backups/restores';
import { isExpired, mayCancel } from '../../src/domain/order';
import { outcomeAwaitedFrom, paymentExpiresAt } from '../../src/domain/order-snapshot';
import { linkPagePath, orderPagePath } from '../../src/domain/page-paths';
import { paymentPeriod } from '../../src/domain/payment-period';
import { ORDER_MOVES, isFinal, type OrderStatus } from '../../src/domain/transitions';
import { reversalOrderId, transactionId } from '../../src/ids';
import { isServiceError } from '../../src/temporal/call-errors';
import type { OrderWorkflows } from '../../src/temporal/orders';
import type { ProcessorNotifications } from '../../src/temporal/processor-notifications';
import type { SubmitPaymentInput } from '../../workflows/messages';
import { currentTimeOf } from '../../src/time';
import {
  factsOf,
  suspendedState,
  pageMethods,
  type AttemptFailure,
  type CardPayment,
  type LateApproval,
  type PageOutcome,
  type PageMethod,
  type Payable,
  type Payables,
  type PaymentState,
  type Visit,
} from './payable';
import { createPollLimit } from './poll-limit';

/** Orders on their hosted pages. */

/**
 * How long a customer who comes back from the issuer waits for the outcome before the waiting page is shown.
 * Milliseconds.
 */
const OUTCOME_WAIT_MS = 3_000;
const LOOK_AGAIN_AFTER_MS = 100;
/**
 * How long after a transaction has ended the customer's return from the issuer may still bring an approval to light.
 * Milliseconds.
 */
const LATE_RETURN_MS = 60 * 60_000;

interface OrderPayable extends Payable {
  order: StoredOrder;
}

interface OrderServices {
  db: Database;
  orders: Pick<OrderWorkflows, 'pay' | 'cancel'>;
  processor_notifications: Pick<ProcessorNotifications, 'customerReturned'>;
}

/** Loads, pays and cancels orders for their pages. */
export function orderPayables({ db, orders, processor_notifications }: OrderServices): Payables<OrderPayable> {
  const pollLimit = createPollLimit();

  /** Resolves once the order has changed, or at `until`, epoch milliseconds. */
  async function untilChanged({ id, version }: StoredOrder, until: number): Promise<void> {
    while (Date.now() < until && (await findOrderVersion(db, id)) === version) {
      await setTimeout(LOOK_AGAIN_AFTER_MS);
    }
  }

  async function find(id: string, { transaction_id }: Visit = {}): Promise<OrderPayable | undefined> {
    const order = await findStoredOrder(db, id);
    // Customers do not pay follow-up orders.
    if (order?.kind !== 'payment') return undefined;
    const is_known = transaction_id === undefined || order.transactions.some((one) => one.id === transaction_id);
    return is_known ? toOrderPayable(order, currentTimeOf(order)) : undefined;
  }

  return {
    find,
    async pay({ order }, payment, request) {
      const paid = await orders.pay(order.id, { request, ...paymentInput(order, payment) });
      return toOrderPayable(paid, currentTimeOf(paid));
    },
    async cancel({ order }, request) {
      const { status } = await orders.cancel(order.id, { source: 'customer', request });
      return status === 'cancelled';
    },
    async returnFromIssuer(payable) {
      const { order, now } = payable;
      const transaction = transactionToAskAbout(order, now);
      if (transaction === undefined || (await awaitsReconciliation(db))) return payable;
      const returned = { order_id: order.id, transaction_id: transaction.id };
      const poll = async () => {
        const until = Date.now() + OUTCOME_WAIT_MS;
        await processor_notifications.customerReturned(returned, until);
        await untilChanged(order, until);
      };
      await pollLimit(transaction.id, poll).catch((error: unknown) => {
        // The page shows the record: the processor is polled without the customer too.
        if (!isServiceError(error, 'ServiceUnavailable')) throw error;
      });
      return (await find(order.id)) ?? payable;
    },
  };
}

/** An order as its page shows it. `now`: the order's time, epoch milliseconds. */
export function toOrderPayable(order: StoredOrder, now: number): OrderPayable {
  return {
    ...factsOf(order, now),
    path: orderPagePath(order.id),
    locales: [order.locale, order.customer?.['locale']].filter((locale) => typeof locale === 'string'),
    methods: methodsOf(order),
    state: stateOf(order, now),
    paid_with: paidWith(order),
    is_cancelled: order.status === 'cancelled',
    may_be_approved: mayBeApproved(order, now),
    order,
  };
}

/** An order is expired at its expires_at, even before its timer fires, unless an outcome is awaited (rules 10.10). */
function stateOf(order: StoredOrder, now: number): PaymentState {
  const last = order.transactions.at(-1);
  const last_failure = failureOf(order);
  const late_approval = lateApprovalOf([order]);
  const ended = (status: OrderStatus): PaymentState => {
    const link_id = order.related_payment_link_id;
    const shared = { kind: 'ended', last_failure, late_approval } as const;
    if (link_id !== null && status !== 'completed') {
      const payment_page = linkPagePath(link_id);
      return { ...shared, outcome: 'attempt_failed', return_address: undefined, payment_page };
    }
    const outcome = (status === 'completed' ? undefined : late_approval) ?? (status as PageOutcome);
    return { ...shared, outcome, return_address: returnAddress(order, outcome) };
  };
  const awaitsOutcome: PaymentState = {
    kind: 'waiting',
    waiting_for: 'outcome',
    cancellable: false,
    challenge_url: undefined,
  };
  if (isFinal(ORDER_MOVES, order.status)) return ended(order.status);
  if (last?.status === 'processing') return awaitsOutcome;
  // While an outcome is awaited nobody may be told that nothing was charged.
  const awaited_from = outcomeAwaitedFrom(order);
  const expires_at = paymentExpiresAt({
    expires_at: epoch(order.expires_at),
    transactions: order.transactions.map((one) => ({ status: one.status, expires_at: epoch(one.expires_at) })),
  });
  if (isExpired(expires_at, now)) return awaited_from === undefined ? ended('expired') : awaitsOutcome;
  if (last?.status === 'pending') {
    return {
      kind: 'waiting',
      waiting_for: 'issuer',
      cancellable: mayCancel(order.status, last.status),
      challenge_url: last.challenge_url ?? undefined,
    };
  }
  if (order.charged_by !== 'customer') return awaitsOutcome;
  if (order.project_status === 'suspended') {
    return awaited_from === undefined ? suspendedState(late_approval) : awaitsOutcome;
  }
  const attempt = last?.status === 'new' ? last.attempt : order.transactions.length + 1;
  const attempts_left = order.attempts_max - attempt + 1;
  const charge_began = awaited_from !== undefined;
  const failures = { last_failure, late_approval };
  return { kind: 'payable', attempt, attempts_left, ...failures, cancellable: true, charge_began, expires_at };
}

/** Without expires_at it never expires. */
const epoch = (text: string | null) => (text === null ? Number.POSITIVE_INFINITY : Date.parse(text));

/** Why the last transaction failed; `undefined` when it did not, or was approved after its end. */
export function failureOf(order: StoredOrder): AttemptFailure | undefined {
  const last = order.transactions.at(-1);
  if (last === undefined || reversalOf(order, last) !== undefined) return undefined;
  if (last.status !== 'error') return undefined;
  const declined = last.events.some(
    ({ event, source, result }) => event === 'error' && source === 'processor' && result === 'declined',
  );
  const not_confirmed = last.received_3ds_result === 'failed';
  const reason = declined ? 'declined' : not_confirmed ? 'not_confirmed' : 'failed';
  return { reason, payment_method: last.payment_method, response_code: last.response_code ?? undefined };
}

/**
 * What becomes of payments of these orders that were approved after their end (rules 12.12); of several the one for
 * which the customer has to do something.
 */
export function lateApprovalOf(orders: readonly StoredOrder[]): LateApproval | undefined {
  const reversals = orders.flatMap((order) => order.transactions.map((one) => reversalOf(order, one)));
  if (reversals.some((reversal) => reversal?.status === 'error')) return 'not_given_back';
  return reversals.some((reversal) => reversal !== undefined) ? 'given_back' : undefined;
}

/**
 * The method of a transaction that the merchant sent with the order, else those the order names, else those of the
 * project. An empty list counts as none: such an order could not be paid (rules 5.10). Earlier attempts of the customer
 * do not matter.
 */
function methodsOf({ payment_methods, project_payment_methods, transactions }: StoredOrder): PageMethod[] {
  const [first] = transactions;
  if (first?.method_chosen_by === 'merchant') return pageMethods([first.payment_method], project_payment_methods);
  return pageMethods(payment_methods?.length ? payment_methods : project_payment_methods, project_payment_methods);
}

function paidWith({ transactions }: StoredOrder): Payable['paid_with'] {
  const paid = transactions.find(({ status }) => status === 'accepted');
  const pan = paid?.payment_method_details?.['truncated_pan'];
  if (paid === undefined || typeof pan !== 'string') return undefined;
  return {
    payment_method: paid.payment_method,
    brand: paid.payment_method_brand ?? '',
    last_digits: pan.slice(-4),
  };
}

type ReturnUrls = Pick<StoredOrder, 'id' | 'project_id' | 'return_url' | 'failure_url' | 'related_payment_link_id'>;

/**
 * The merchant's address for this outcome, with the order's ids appended; `undefined` when there is none (rules 12.11).
 */
export function returnAddress(order: ReturnUrls, outcome: PageOutcome): string | undefined {
  const address = outcome === 'completed' ? order.return_url : (order.failure_url ?? order.return_url);
  if (address === null) return undefined;
  const url = new URL(address);
  // Not by searchParams, which would rewrite the existing query.
  const query = url.search.replace(/^\?/, '');
  const link_id = order.related_payment_link_id;
  const of_link = link_id === null ? '' : `&payment_link_id=${link_id}`;
  url.search = `${query}${query === '' ? '' : '&'}order_id=${order.id}&project_id=${order.project_id}${of_link}`;
  return url.href;
}

/**
 * The workflow's input for one attempt. Settings that the merchant sent for the first attempt apply to every later one
 * (rules 6.4).
 */
function paymentInput(
  { id, project_id, is_test, transactions: [first], transaction_expiration_period }: StoredOrder,
  { attempt, payment_method, card: { brand, ...card } }: CardPayment,
): Omit<SubmitPaymentInput, 'request'> {
  const { capture_mode, capture_period, transaction_type, receiver_account_token, payment_method_details } =
    first ?? {};
  const { receiver_account_number, receiver_account_number_type } = payment_method_details ?? {};
  // Account funding: the page shows the receiver beside the card.
  const receiver =
    receiver_account_number === undefined ? {} : { receiver_account_number, receiver_account_number_type };
  return {
    project_id,
    is_test,
    transaction: {
      ...paymentPeriod(first ?? {}, transaction_expiration_period),
      id: transactionId(id, attempt),
      attempt,
      payment_method,
      payment_method_brand: brand,
      payment_method_details: { ...receiver, ...card },
      capture_mode: capture_mode ?? undefined,
      capture_period: capture_period ?? undefined,
      transaction_type:
        transaction_type === 'authorization' || transaction_type === 'aft' ? transaction_type : undefined,
      receiver_account_token: receiver_account_token ?? undefined,
    },
  };
}

/**
 * The transaction that a customer who returns from the issuer may have paid there: the last one while it is pending, or
 * within an hour after it ended unpaid. `undefined` if its reversal is recorded already, so that the processor's answer
 * does not matter (rules 12.12).
 */
export function transactionToAskAbout(order: StoredOrder, now: number): StoredTransaction | undefined {
  const last = order.transactions.at(-1);
  if (last === undefined || last.challenge_url === null || order.status === 'completed') return undefined;
  if (last.status !== 'pending' && last.status !== 'cancelled' && last.status !== 'expired') return undefined;
  const ended_at = epoch(last.status === 'pending' ? last.expires_at : last.modified);
  if (now >= ended_at + LATE_RETURN_MS) return undefined;
  return reversalOf(order, last) === undefined ? last : undefined;
}

/**
 * Whether the issuer may still approve it, or has: the processor has not said no since it ended, or since its time was
 * over.
 */
export function mayBeApproved(order: StoredOrder, now: number): boolean {
  const asked = transactionToAskAbout(order, now);
  if (asked === undefined || !(asked.may_be_approved || asked.status === 'pending')) return false;
  return stateOf(order, now).kind !== 'waiting';
}

/** The order that gives back the money of this transaction; `undefined` unless it was approved after it had ended. */
const reversalOf = ({ follow_ups }: StoredOrder, transaction: StoredTransaction) =>
  follow_ups.find(({ id }) => id === reversalOrderId(transaction.id));
