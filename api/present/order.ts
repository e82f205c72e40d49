import type { Order } from '../../src/contract/order';
import type { Event, Transaction } from '../../src/contract/transaction';
import { capturableAmount } from '../../src/domain/amounts';
import { FOLLOW_UPS } from '../../src/domain/follow-up';
import { orderPagePath } from '../../src/domain/page-paths';
import { ORDER_MOVES, isFinal } from '../../src/domain/transitions';
import { moneyOf, type StoredEvent, type StoredOrder, type StoredTransaction } from '../../src/db/orders/stored-order';
import { currentTimeOf } from '../../src/time';
import type { Versioned } from '../operation';
import { formatInstant, formatTimestamp, omitNull } from './format';

/** Converts records for the wire: absent values are left out, never null (rules 1.3). */

/** The current time of an object whose clock was advanced (rules 23.5); null for any other. */
export function testClock(object: Pick<StoredOrder, 'clock_offset_ms'>): string | null {
  return object.clock_offset_ms === 0 ? null : formatInstant(currentTimeOf(object));
}

/** Like presentOrder, for answers that carry an ETag. */
export function presentVersion(order: StoredOrder, public_url: string): Versioned<Order> {
  return { body: presentOrder(order, public_url), version: order.version };
}

/**
 * The names of an object on the wire: all fields of the record, except the `Other` ones, which are shown in another way
 * or not at all. A new field is one of the two, or does not compile.
 */
type Shown<Stored, Other extends keyof Stored> = Record<Exclude<keyof Stored, Other>, unknown> &
  Record<string, unknown>;
type ShownOrder = Shown<
  StoredOrder,
  | 'kind'
  | 'follow_ups'
  | 'is_test'
  | 'ended'
  | 'ended_by'
  | 'ended_at'
  | 'requested_by'
  | 'attempts_max'
  | 'charged_by'
  | 'project_payment_methods'
  | 'project_status'
  | 'transaction_expiration_period'
  | 'version'
  | 'clock_id'
  | 'clock_offset_ms'
>;
type ShownTransaction = Shown<
  StoredTransaction,
  | 'attempt'
  | 'charge_began'
  | 'method_chosen_by'
  | 'capture_period'
  | 'capture_ends_at'
  | 'refunded_amount'
  | 'charged_back_amount'
  | 'won_back_amount'
  | 'capture_pending_amount'
  | 'void_pending_amount'
  | 'refund_pending_amount'
  | 'original_transaction_id'
  | 'receiver_account_token'
  | 'may_be_approved'
  | 'response_code'
  | 'response_code_description'
  | 'challenge_url'
  | 'received_3ds_result'
  | 'liability_shift'
  | 'polls'
  | 'polled_at'
>;

/**
 * An order as the wire shows it, with its transactions and their events (rules 5.4). `public_url` without a
 * slash at its end: links to the hosted page begin with it.
 */
export function presentOrder(order: StoredOrder, public_url: string): Order {
  const refunded_amount = order.transactions.reduce((sum, transaction) => sum + transaction.refunded_amount, 0);
  return {
    ...omitNull({
      id: order.id,
      project_id: order.project_id,
      merchant_id: order.merchant_id,
      merchant_name: order.merchant_name,
      merchant_order_id: order.merchant_order_id,
      description: order.description,
      currency: order.currency,
      amount: order.amount,
      status: order.status,
      created: formatTimestamp(order.created),
      modified: formatTimestamp(order.modified),
      completed: order.completed && formatTimestamp(order.completed),
      expiration_period: order.expiration_period,
      expires_at: orderCanBePaid(order) && order.expires_at !== null ? formatTimestamp(order.expires_at) : null,
      test_clock: testClock(order),
      payment_methods: order.payment_methods,
      transactions: order.transactions.map((transaction) => presentTransaction(transaction, order, public_url)),
      refunded_amount: nullIfZero(refunded_amount),
      order_url: hasPage(order) ? `${public_url}${orderPagePath(order.id)}` : null,
      related_order_id: order.related_order_id,
      related_orders: order.follow_ups.map(({ id }) => id),
      related_payment_link_id: order.related_payment_link_id,
      ...linksOf(order),
      return_url: order.return_url,
      failure_url: order.failure_url,
      webhook_url: order.webhook_url,
      locale: order.locale,
      customer: order.customer && omitNull(order.customer),
      client: order.client,
      extra: order.extra,
      order_lines: order.order_lines,
    } satisfies ShownOrder),
    flags: flagsOf(order),
  };
}

/** Whether a customer sees the order on a page: the order's own, or the one it is paid on through a link. */
const hasPage = ({ charged_by, related_payment_link_id }: StoredOrder) =>
  charged_by === 'customer' || related_payment_link_id !== null;

/** A follow-up order names its original, an original its follow-up orders, each kind in a field of its own. */
function linksOf(order: StoredOrder): Partial<Record<string, string | string[] | null>> {
  const kinds = Object.entries(FOLLOW_UPS).map(([kind, { of, orders }]) => ({
    [of]: order.kind === kind ? order.related_order_id : null,
    // Captures and voids appear in related_orders only (rules 9.5).
    ...(orders === null ? {} : { [orders]: order.follow_ups.filter((one) => one.kind === kind).map(({ id }) => id) }),
  }));
  return Object.assign({}, ...kinds) as Partial<Record<string, string | string[] | null>>;
}

function flagsOf(order: StoredOrder): string[] {
  const kinds = Object.entries(FOLLOW_UPS).flatMap(([kind, { flag, original_flag }]) => [
    ...(order.kind === kind ? [flag] : []),
    ...(order.follow_ups.some((one) => one.kind === kind && one.status === 'completed') ? [original_flag] : []),
  ]);
  return [...(order.is_test ? ['is-test'] : []), ...kinds];
}

/** Whether the customer can pay, now or after a decline: not while the outcome of an attempt is unknown (rules 7.6). */
function orderCanBePaid({ kind, status, transactions }: StoredOrder): boolean {
  return kind === 'payment' && !isFinal(ORDER_MOVES, status) && transactions.at(-1)?.status !== 'processing';
}

function presentTransaction(transaction: StoredTransaction, order: StoredOrder, public_url: string): Transaction {
  const canBePaid = order.kind === 'payment' && (transaction.status === 'new' || transaction.status === 'pending');
  const isCapturable = capturableAmount(moneyOf(transaction), currentTimeOf(order)) > 0;
  const { expires_at, capture_ends_at } = transaction;
  const outcome = omitNull({
    response_code: transaction.response_code,
    response_code_description: transaction.response_code_description,
  });
  return {
    ...omitNull({
      id: transaction.id,
      order_id: order.id,
      created: formatTimestamp(transaction.created),
      modified: formatTimestamp(transaction.modified),
      amount: transaction.amount,
      currency: transaction.currency,
      credit_debit: transaction.credit_debit,
      payment_method: transaction.payment_method,
      payment_method_brand: transaction.payment_method_brand,
      payment_method_details: detailsOf(transaction),
      capture_mode: transaction.capture_mode,
      expiration_period: transaction.expiration_period,
      transaction_type: transaction.transaction_type,
      refund_of_transaction_id: order.kind === 'refund' ? transaction.original_transaction_id : null,
      status: transaction.status,
      captured_amount: nullIfZero(transaction.captured_amount),
      voided_amount: nullIfZero(transaction.voided_amount),
      settlement_currency: transaction.settlement_currency,
      settlement_amount: nullIfZero(transaction.settlement_amount),
      fee_currency: transaction.fee_currency,
      fee_amount: nullIfZero(transaction.fee_amount),
      events: transaction.events.map(presentEvent),
      received_3ds_authentication:
        transaction.received_3ds_result === null ? null : { result: transaction.received_3ds_result },
      outcomes: transaction.response_code === null ? null : { processing: { status: transaction.status, ...outcome } },
      expires_at: canBePaid && expires_at !== null ? formatTimestamp(expires_at) : null,
      capture_before: isCapturable && capture_ends_at !== null ? formatTimestamp(capture_ends_at) : null,
      payment_url: canBePaid ? `${public_url}${orderPagePath(order.id, transaction.id)}` : null,
    } satisfies ShownTransaction),
    ...(order.kind === 'payment' && { is_capturable: isCapturable }),
  };
}

/** An amount of 0 is left out (rules 1.3). */
const nullIfZero = (amount: number | null) => (amount === 0 ? null : amount);

function detailsOf({ payment_method_details: details, liability_shift }: StoredTransaction) {
  return liability_shift === null ? details : { ...details, liability_shift };
}

function presentEvent(event: StoredEvent): Event {
  return omitNull({
    id: event.id,
    event: event.event,
    occurred: formatTimestamp(event.occurred),
    noticed: formatTimestamp(event.noticed),
    source: event.source,
    result: event.result,
    authorization_iso_response_code: event.authorization_iso_response_code,
  } satisfies Shown<StoredEvent, never>);
}
