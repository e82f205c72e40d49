import { WEBHOOK_ATTEMPTS_MAX } from './delivery';
import type { OrderKind, RequestedBy } from './follow-up';
import type { PaymentMethodDetails } from './new-order';
import { orderStatus } from './order';
import type { EventResult, EventSource } from './transaction';
import { ORDER_MOVES, isFinal, type OrderStatus, type TransactionStatus } from './transitions';
import { byInstant, type AmountInWords } from './waits';

/**
 * An entry of a timeline, in words for the merchant (rules 23.1). Instants of the record are ISO 8601 texts, those of
 * entries epoch milliseconds. The only customer data in the texts is the masked card number.
 */
export interface TimelineEntry {
  at: number;
  event: string;
  text: string;
  /** Who caused it. */
  by: EventSource;
  /** Only of a follow-up order. */
  order_id?: string;
  transaction_id?: string;
  /** Number of the webhook. */
  delivery?: number;
}

/** An order as the timeline reads it. */
export interface TimelineOrder {
  id: string;
  kind: OrderKind;
  status: OrderStatus;
  amount: number;
  currency: string;
  attempts_max: number;
  related_payment_link_id: string | null;
  requested_by: RequestedBy | null;
  ended_by: EventSource | null;
  /** Null for an order that ended before this was noted: it shows its last change. */
  ended_at: string | null;
  created: string;
  modified: string;
  transactions: readonly TimelineTransaction[];
}

export interface TimelineTransaction {
  id: string;
  attempt: number;
  capture_mode: string | null;
  payment_method_details: PaymentMethodDetails | null;
  response_code: string | null;
  response_code_description: string | null;
  received_3ds_result: string | null;
  polls: number;
  polled_at: string | null;
  events: readonly TimelineEvent[];
}

interface TimelineEvent {
  event: TransactionStatus;
  source: EventSource;
  result: EventResult | null;
  noticed: string;
}

/** One attempt of a webhook. */
export interface TimelineAttempt {
  order_id: string;
  /** Number of the webhook. */
  n: number;
  attempt: number;
  started: string;
  status_code: number | null;
  failure: string | null;
}

/** An advance of the sandbox clock that the order uses (rules 23.5); `started` by that clock, before the advance. */
export interface TimelineClockAdvance {
  started: string;
  from_offset_ms: number;
  to_offset_ms: number;
}

/** The start of a page of a timeline: an instant in epoch milliseconds, and the number of its entries to skip. */
export interface TimelinePlace {
  at: number;
  skip: number;
}

/** The place of the first page. */
export const TIMELINE_START: TimelinePlace = { at: 0, skip: 0 };

/** A page of entries that are in order, and where the next one begins; absent on the last page. */
export function pageOfTimeline(
  entries: readonly TimelineEntry[],
  { limit, from }: { limit: number; from: TimelinePlace },
): { entries: TimelineEntry[]; next?: TimelinePlace } {
  const later = entries.filter(({ at }) => at >= from.at).slice(from.skip);
  const page = later.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined || later.length === page.length) return { entries: page };
  const of_instant = page.filter(({ at }) => at === last.at).length;
  return { entries: page, next: { at: last.at, skip: of_instant + (last.at === from.at ? from.skip : 0) } };
}

/** The history of an order, its follow-up orders and their webhooks, oldest first. */
export function timelineEntries(
  { order, follow_ups, attempts, clock_advances }: Timeline,
  inWords: AmountInWords,
): TimelineEntry[] {
  const named = (order_id: string) => (order_id === order.id ? {} : { order_id });
  // The clock of a payment link may have been advanced before the order was made.
  const advances = clock_advances.filter(({ started }) => Date.parse(started) >= Date.parse(order.created));
  return [
    ...advances.map(clockEntry),
    ...[order, ...follow_ups].flatMap((one) =>
      orderEntries(one, inWords).map((entry) => ({ ...entry, ...named(one.id) })),
    ),
    ...attempts.map((attempt) => ({ ...attemptEntry(attempt), ...named(attempt.order_id) })),
  ].toSorted(byInstant);
}

export interface Timeline {
  order: TimelineOrder;
  /** Oldest first. */
  follow_ups: readonly TimelineOrder[];
  /** Of the order and its follow-up orders. */
  attempts: readonly TimelineAttempt[];
  clock_advances: readonly TimelineClockAdvance[];
}

/**
 * The moves of one order and its transactions. The status of an order follows from its transactions, so its moves do
 * too (rules 4.4).
 */
function orderEntries(order: TimelineOrder, inWords: AmountInWords): TimelineEntry[] {
  const amount = inWords(order.amount, order.currency);
  const created_by = order.requested_by ?? (order.related_payment_link_id === null ? 'merchant' : 'customer');
  const text = order.kind === 'payment' ? `Order of ${amount} created` : `${nameOf(order)} of ${amount} requested`;
  const entries: TimelineEntry[] = [{ at: Date.parse(order.created), event: 'order.new', text, by: created_by }];
  const transactions: TransactionStatus[] = [];
  let status: OrderStatus = 'new';
  let was_accepted = false;
  const move = (to: OrderStatus, at: number, by: EventSource) => {
    if (to === status) return;
    status = to;
    entries.push({ at, event: `order.${to}`, text: `${nameOf(order)} ${ORDER_WORDS[to]}`, by });
  };
  const events = order.transactions.flatMap((transaction) =>
    transaction.events.map((event) => ({ transaction, event })),
  );
  for (const { transaction, event } of events.toSorted((a, b) => noticedAt(a.event) - noticedAt(b.event))) {
    const at = noticedAt(event);
    entries.push({
      at,
      event: `transaction.${event.event}`,
      text: transactionWords(order, transaction, event),
      by: event.source,
      transaction_id: transaction.id,
    });
    transactions[transaction.attempt - 1] = event.event;
    was_accepted ||= event.event === 'accepted';
    const to = orderStatus({ transactions, was_accepted, attempts_max: order.attempts_max });
    // A last attempt that fails after the order's end makes it cancelled or expired, not `error` (rules 4.9).
    move(isFinal(ORDER_MOVES, to) ? order.status : to, at, event.source);
  }
  // An order that ended without an open transaction has no event for it.
  move(order.status, Date.parse(order.ended_at ?? order.modified), order.ended_by ?? 'service');
  return [...entries, ...order.transactions.flatMap(pollEntry)];
}

const noticedAt = ({ noticed }: TimelineEvent) => Date.parse(noticed);

const nameOf = ({ kind }: TimelineOrder) =>
  kind === 'payment' ? 'Order' : `${kind[0]!.toUpperCase()}${kind.slice(1)}`;

const ORDER_WORDS: Record<OrderStatus, string> = {
  new: 'is new',
  processing: 'is processing',
  'see-transactions': 'has a failed transaction and an open one',
  completed: 'completed',
  cancelled: 'cancelled',
  expired: 'expired',
  error: 'failed',
};

function transactionWords(order: TimelineOrder, transaction: TimelineTransaction, event: TimelineEvent): string {
  const { attempt, capture_mode, payment_method_details, response_code, response_code_description } = transaction;
  const is_payment = order.kind === 'payment';
  const card = payment_method_details?.['truncated_pan'] as string | undefined;
  const why = response_code === null ? '' : `: ${[response_code, response_code_description ?? ''].join(' ').trim()}`;
  switch (event.event) {
    case 'new':
      return is_payment ? `Attempt ${attempt} of ${order.attempts_max}` : 'Transaction created';
    case 'pending':
      return 'The customer is sent to 3-D Secure';
    case 'processing':
      return event.source === 'processor'
        ? 'The processor has no outcome yet'
        : 'The processor did not answer: outcome unknown';
    case 'accepted':
      if (!is_payment) return `Approved${why}`;
      return `${capture_mode === null ? 'Payment' : 'Authorization'} approved${card === undefined ? '' : ` with ${card}`}${why}`;
    case 'error':
      if (event.result === 'declined') {
        return event.source === 'operator' ? 'Set to declined by an operator' : `Declined by the issuer${why}`;
      }
      return transaction.received_3ds_result === 'failed' ? '3-D Secure failed' : `Failed${why}`;
    case 'cancelled':
      return event.source === 'customer' ? 'Cancelled by the customer' : 'Cancelled';
    case 'expired':
      return 'Expired';
  }
}

/** The polls of a transaction without an outcome, at the time of the last one. */
function pollEntry({ id, polls, polled_at }: TimelineTransaction): TimelineEntry[] {
  if (polled_at === null) return [];
  const text = `The processor was asked for the outcome${polls === 1 ? '' : `, ${polls} times so far`}: not known yet`;
  return [{ at: Date.parse(polled_at), event: 'processor.asked', text, by: 'service', transaction_id: id }];
}

function clockEntry({ started, from_offset_ms, to_offset_ms }: TimelineClockAdvance): TimelineEntry {
  const at = Date.parse(started);
  const to = new Date(at + to_offset_ms - from_offset_ms).toISOString();
  return { at, event: 'clock.moved', text: `The sandbox clock is moved to ${to}`, by: 'merchant' };
}

function attemptEntry({ n, attempt, started, status_code, failure }: TimelineAttempt): TimelineEntry {
  const outcome = failure === null ? `received, answered ${status_code}` : failure;
  const text = `Webhook attempt ${attempt} of ${WEBHOOK_ATTEMPTS_MAX}: ${outcome}`;
  return { at: Date.parse(started), event: 'webhook.attempt', text, by: 'service', delivery: n };
}
