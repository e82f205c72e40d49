import { closingOf, openAuthorization, type Authorization } from './authorization';
import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_RETRY_AFTER_MS, type DeliveryKey, type DeliveryProgress } from './delivery';
import type { TransactionMoney } from './amounts';
import { isFullyReleased, statusAfterRelease, type FollowUpKind, type OrderKind } from './follow-up';
import { afterMove, planMove } from './move';
import { nextStep } from './next-step';
import { outcomeAwaitedFrom, paymentExpiresAt, withoutLatePoll, type OrderSnapshot } from './order-snapshot';
import { timelineEntries, type TimelineEntry, type TimelineOrder, type TimelineTransaction } from './timeline';
import type { TransactionStatus } from './transitions';
import { byInstant, deliveryWait, watchWait, type AmountInWords, type LateApprovalWatch } from './waits';

/** What happens to an order if nobody acts. `at` in epoch milliseconds, `rule` a number in docs/rules.md. */
export interface ForecastEntry extends Pick<
  TimelineEntry,
  'at' | 'event' | 'text' | 'order_id' | 'transaction_id' | 'delivery'
> {
  rule: string;
}

/** A webhook that is delivered or failed, and when its last attempt began: epoch milliseconds by the order's clock. */
export interface EndedDelivery extends DeliveryKey {
  last_attempt_at: number;
}

type ForecastDelivery = DeliveryKey & Pick<DeliveryProgress, 'status' | 'attempts' | 'next_attempt_at'>;

/** The record from which the future of an order follows. */
export interface ForecastRecord {
  /** A payment order, or a follow-up order. */
  order: TimelineOrder;
  /** The same order as decisions need it, and the money of its accepted transaction. */
  snapshot: OrderSnapshot;
  money: TransactionMoney | undefined;
  /** Its open webhooks and those of its follow-up orders. */
  deliveries: readonly ForecastDelivery[];
  /** Those that have ended, and whose attempts are still kept. */
  ended_deliveries: readonly EndedDelivery[];
  /** How long attempts are kept (rules 29.1), by the order's clock: as far as it is ahead, longer. Milliseconds. */
  attempts_kept_ms: number;
  watches: readonly LateApprovalWatch[];
  /** Number of its next webhook. */
  next_delivery: number;
  /** Number of the first webhook of an order that follows it. */
  first_delivery: number;
  /** Whether its next change sends a webhook. */
  has_webhook_address: boolean;
  /** The order's time, epoch milliseconds. */
  now: number;
}

/** The ids of what the service will make: derived, so they are known before. */
export interface FutureIds {
  closing: (transaction_id: string, n: number) => string;
  transaction: (order_id: string, attempt: number) => string;
}

/**
 * Everything that will happen to an order if nobody acts, in the order in which it happens: the decisions of its
 * workflow are made ahead of time (rules 23.12). The processor is assumed to approve what the service asks of it, a
 * customer not to come back, and receivers to go on as they are: one that refused its last attempt refuses all others.
 */
export function forecastOf(record: ForecastRecord, ids: FutureIds, inWords: AmountInWords): ForecastEntry[] {
  const future = new Future(record, ids);
  future.run();
  return future.entries(inWords);
}

class Future {
  private snapshot: OrderSnapshot;
  private money: TransactionMoney | undefined;
  /** With the events to come. */
  private transactions: readonly TimelineTransaction[];
  private expired_at: number | undefined;
  private readonly follow_ups: TimelineOrder[] = [];
  /** Webhooks, and questions to the processor. */
  private readonly others: ForecastEntry[] = [];
  private readonly receiver_fails: boolean;

  constructor(
    private readonly record: ForecastRecord,
    private readonly ids: FutureIds,
  ) {
    const { order, snapshot, money, deliveries } = record;
    // Open webhooks and questions are parts of the record themselves.
    this.snapshot = withoutLatePolls({ ...snapshot, deliveries: [] });
    this.money = money;
    this.transactions = order.transactions;
    this.receiver_fails = deliveries.some(({ attempts }) => attempts > 0);
  }

  run(): void {
    const { order, deliveries, ended_deliveries, watches } = this.record;
    for (const { last_attempt_at, ...delivery } of ended_deliveries) this.removeAttempts(delivery, last_attempt_at);
    for (const delivery of deliveries) this.attempts(delivery, delivery.attempts > 0);
    for (const watch of watches) this.question(watch);
    if (order.kind !== 'payment') return;
    for (let now: number | undefined = this.record.now; now !== undefined; now = this.step(now));
  }

  /** What was added to the timeline, and what is no part of it. */
  entries(inWords: AmountInWords): ForecastEntry[] {
    const { record, transactions, follow_ups, expired_at } = this;
    const ended =
      expired_at !== undefined &&
      ({ status: 'expired', ended_by: 'service', ended_at: new Date(expired_at).toISOString() } as const);
    const entriesOf = (order: TimelineOrder, closings: readonly TimelineOrder[]) =>
      timelineEntries({ order, follow_ups: closings, attempts: [], clock_advances: [] }, inWords);
    const known = entriesOf(record.order, []).length;
    const moves = entriesOf({ ...record.order, transactions, ...ended }, follow_ups).slice(known);
    const kinds = new Map(follow_ups.map(({ id, kind }) => [id, kind]));
    const ruled = moves.map((move) => {
      const { by: _, ...entry } = move;
      return { ...entry, rule: ruleOf(kinds.get(entry.order_id ?? ''), expired_at !== undefined) };
    });
    // At the same instant a capture or release comes before what it changes in its payment.
    const [of_payment, of_closings] = [false, true].map((is) =>
      ruled.filter(({ order_id }) => (order_id !== undefined) === is),
    );
    return [...of_closings!, ...of_payment!, ...this.others].toSorted(byInstant);
  }

  /** Takes the next step of the order's workflow. Returns when the one after it is due; undefined when none is. */
  private step(now: number): number | undefined {
    const { snapshot } = this;
    const step = nextStep(snapshot, now);
    if (step === 'awaitPayment') return paymentExpiresAt(snapshot);
    if (step === 'pollOutcome') {
      return outcomeAwaitedFrom(snapshot) === 'issuer' ? paymentExpiresAt(snapshot) : undefined;
    }
    if (step === 'expire') {
      this.expire(now);
      return now;
    }
    const authorization = step === 'holdAuthorization' ? openAuthorization(snapshot) : undefined;
    if (authorization === undefined) return undefined;
    if (now < authorization.capture_ends_at) return authorization.capture_ends_at;
    return this.close(authorization, now) ? now : undefined;
  }

  private expire(at: number): void {
    const { snapshot, record } = this;
    const move = planMove(snapshot, { ended: 'expired' });
    if (move === undefined) throw new Error('an order expires once');
    if (move.transaction !== undefined) this.event(move.transaction.transaction_id, move.transaction.to, at);
    this.expired_at = at;
    this.webhook({ order_id: record.order.id, n: record.next_delivery }, at);
    const after = afterMove(snapshot, move, undefined, { source: 'service', now: at });
    for (const { id, late_poll_at } of after.transactions) {
      if (late_poll_at !== undefined) this.question({ transaction_id: id, poll_at: late_poll_at, polls: 0, began: at });
    }
    this.snapshot = withoutLatePolls(after);
  }

  /** Captures or releases the money that is left. Returns false when the service asks for no more. */
  private close(authorization: Authorization, at: number): boolean {
    const closing = closingOf(authorization, at);
    if (closing === undefined) return false;
    const { transaction_id, closings, reserved } = authorization;
    const { kind, amount } = closing;
    const id = this.ids.closing(transaction_id, closings.length + 1);
    this.follow_ups.push(this.closingOrder(id, closing, at));
    this.webhook({ order_id: id, n: this.record.first_delivery }, at);
    const { snapshot, money } = this;
    this.snapshot = {
      ...snapshot,
      closings: [...closings, { id, kind, status: 'completed', amount }],
      transactions: snapshot.transactions.map((one) =>
        one.id === transaction_id && one.capture !== undefined
          ? { ...one, capture: { ...one.capture, reserved: reserved - amount } }
          : one,
      ),
    };
    if (money === undefined) return true;
    const column = kind === 'capture' ? 'captured_amount' : 'voided_amount';
    this.money = { ...money, [column]: money[column] + amount };
    if (isFullyReleased(this.money)) this.event(transaction_id, statusAfterRelease(true), at);
    return true;
  }

  private closingOrder(
    id: string,
    { kind, amount }: { kind: FollowUpKind; amount: number },
    at: number,
  ): TimelineOrder {
    const noticed = new Date(at).toISOString();
    return {
      id,
      kind,
      amount,
      currency: this.record.order.currency,
      status: 'completed',
      attempts_max: 1,
      related_payment_link_id: null,
      requested_by: 'service',
      ended_by: null,
      ended_at: null,
      created: noticed,
      modified: noticed,
      transactions: [
        {
          id: this.ids.transaction(id, 1),
          attempt: 1,
          capture_mode: null,
          payment_method_details: null,
          response_code: null,
          response_code_description: null,
          received_3ds_result: null,
          polls: 0,
          polled_at: null,
          events: [
            { event: 'new', source: 'service', result: null, noticed },
            { event: 'accepted', source: 'processor', result: 'approved', noticed },
          ],
        },
      ],
    };
  }

  private event(transaction_id: string, event: TransactionStatus, at: number): void {
    const noticed = new Date(at).toISOString();
    this.transactions = this.transactions.map((one) =>
      one.id === transaction_id
        ? { ...one, events: [...one.events, { event, source: 'service', result: null, noticed }] }
        : one,
    );
  }

  /** A webhook of a change at `at`. */
  private webhook(id: DeliveryKey, at: number): void {
    if (!this.record.has_webhook_address) return;
    this.attempts({ ...id, status: 'new', attempts: 0, next_attempt_at: at }, this.receiver_fails);
  }

  /** The attempts of a webhook from now on: one that is received, or all that are left. */
  private attempts(delivery: ForecastDelivery, fails: boolean): void {
    const last = fails ? WEBHOOK_ATTEMPTS_MAX : delivery.attempts + 1;
    for (let { attempts, next_attempt_at = 0 } = delivery; attempts < last; attempts += 1) {
      const wait = deliveryWait({
        status: delivery.status,
        attempts,
        next_attempt_at: Math.max(next_attempt_at, this.record.now),
      });
      if (wait === undefined) return;
      const { at, event, text } = wait;
      this.others.push({ at, event, text, ...this.of(delivery), rule: attempts === 0 ? '13.1' : '13.6' });
      next_attempt_at = at + WEBHOOK_RETRY_AFTER_MS;
      if (attempts + 1 === last) this.removeAttempts(delivery, at);
    }
  }

  /** The attempts of a webhook that has ended are no longer kept. */
  private removeAttempts(delivery: DeliveryKey, last_attempt_at: number): void {
    const text = 'Webhook attempts removed from the timeline';
    const at = last_attempt_at + this.record.attempts_kept_ms;
    this.others.push({ at, event: 'webhook.attempts_removed', text, ...this.of(delivery), rule: '29.1' });
  }

  private of({ order_id, n: delivery }: DeliveryKey): Pick<ForecastEntry, 'order_id' | 'delivery'> {
    return { ...(order_id !== this.record.order.id && { order_id }), delivery };
  }

  /** A question to the processor whether it approved a payment after all. */
  private question(watch: LateApprovalWatch): void {
    const { at, event, text } = watchWait(watch);
    this.others.push({ at, event, text, transaction_id: watch.transaction_id, rule: '10.12' });
  }
}

const withoutLatePolls = (order: OrderSnapshot) =>
  order.transactions.reduce((kept, { id }) => withoutLatePoll(kept, id), order);

/** The rule of a move: of a capture or release at the end of the window, of its payment, or of an expiry. */
function ruleOf(closing: OrderKind | undefined, is_expiry: boolean): string {
  if (closing !== undefined) return closing === 'capture' ? '8.2' : '8.8';
  return is_expiry ? '7.1' : '8.11';
}
