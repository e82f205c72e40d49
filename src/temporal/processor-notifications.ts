import { announceOperation } from '../db/orders/announced-operations';
import { findStoredOrder } from '../db/orders/stored-order';
import { PROCESSOR_INITIATED, isProcessorInitiated } from '../domain/follow-up';
import { processorOrderId } from '../ids';
import { callOnce, type TemporalAccess } from './call';
import { currentTimeOf } from '../time';
import type { FollowUpWorkflows } from './follow-ups';
import type { OrderWorkflows } from './orders';
import { fetchSettlementsNow } from './schedules';

/** The content of a notification. It is not trusted: the workflow polls the processor by key. */
interface Notification {
  operation: string;
  idempotency_key: string;
  order_id: string;
  transaction_id: string;
  follow_up_order_id?: string | undefined;
}

/**
 * Handles signs that the processor has, or may have, an outcome that the record lacks: a workflow polls it by key.
 * Methods throw ServiceUnavailable after the deadline (epoch milliseconds), and are safe to repeat.
 */
export class ProcessorNotifications {
  constructor(
    private readonly temporal: TemporalAccess,
    private readonly orders: Pick<OrderWorkflows, 'requestPoll'>,
    private readonly follow_ups: Pick<FollowUpWorkflows, 'requestPoll' | 'resumeAnnounced' | 'startReversal'>,
  ) {}

  /**
   * Handles a notification. The order or follow-up order that it is about polls now; a late approval is reversed. An
   * operation that the processor initiated is recorded once.
   */
  async handle(notification: Notification, deadline_at: number): Promise<void> {
    const { operation, follow_up_order_id } = notification;
    await callOnce(this.temporal.client, deadline_at, async () => {
      if (isProcessorInitiated(operation)) {
        await this.record(PROCESSOR_INITIATED[operation], notification);
      } else if (follow_up_order_id !== undefined) {
        await this.follow_ups.requestPoll(follow_up_order_id);
      } else {
        await this.pollPayment(notification, { with_declined: true });
      }
    });
  }

  /**
   * Handles the settlement of an operation. One that the processor initiated is recorded now, if it is not: its
   * notification may be lost.
   */
  async settled(operation: Notification, deadline_at: number): Promise<void> {
    const { operation: name } = operation;
    if (!isProcessorInitiated(name)) return;
    await callOnce(this.temporal.client, deadline_at, async () => {
      await this.record(PROCESSOR_INITIATED[name], operation, { unless_recorded: true });
    });
  }

  /** Has new settlements fetched now. */
  async settlementsCreated(deadline_at: number): Promise<void> {
    const { client } = this.temporal;
    await callOnce(client, deadline_at, () => fetchSettlementsNow(client));
  }

  /** Polls a payment whose customer has returned from the issuer. */
  async customerReturned(payment: { order_id: string; transaction_id: string }, deadline_at: number): Promise<void> {
    await callOnce(this.temporal.client, deadline_at, () => this.pollPayment(payment, { with_declined: false }));
  }

  /**
   * Polls the order, and starts a reversal, which has an effect only for a payment that ended unpaid. `with_declined`:
   * or that was declined, as a notification is a sign of an approval (rules 10.18).
   */
  private async pollPayment(
    { order_id, transaction_id }: { order_id: string; transaction_id: string },
    { with_declined }: { with_declined: boolean },
  ): Promise<void> {
    await this.orders.requestPoll(order_id);
    await this.follow_ups.startReversal({ transaction_id, with_declined });
  }

  /** Records an operation that the processor initiated. A notification about an unknown payment is ignored. */
  private async record(
    kind: 'chargeback' | 'reversal',
    notification: Notification,
    { unless_recorded = false } = {},
  ): Promise<void> {
    const { idempotency_key: processor_key, order_id: original_order_id, transaction_id } = notification;
    const { db } = this.temporal;
    const payment = await findStoredOrder(db, original_order_id);
    if (!payment?.transactions.some(({ id }) => id === transaction_id)) return;
    const order_id = processorOrderId(transaction_id, processor_key);
    const announced = {
      order_id,
      kind,
      processor_key,
      original_order_id,
      original_transaction_id: transaction_id,
    };
    const { project_id, clock_offset_ms, follow_ups } = payment;
    // Recovery continues it if the workflow is lost before the order is recorded.
    const is_recorded = follow_ups.some(({ id }) => id === order_id);
    if (is_recorded && unless_recorded) return;
    if (!is_recorded) await announceOperation(db, announced, currentTimeOf(payment));
    await this.follow_ups.resumeAnnounced({ ...announced, project_id, clock_offset_ms });
  }
}
