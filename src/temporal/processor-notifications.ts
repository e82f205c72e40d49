import { announceOperation } from '../db/orders/announced-operations';
import { findStoredOrder } from '../db/orders/stored-order';
import { PROCESSOR_INITIATED, isProcessorInitiated } from '../domain/follow-up';
import { processorOrderId } from '../ids';
import { callOnce, type TemporalAccess } from './call';
import type { FollowUpWorkflows } from './follow-ups';
import type { OrderWorkflows } from './orders';
import { fetchSettlementsNow } from './schedules';

/** The content of a notification; it is not trusted, so the workflow asks the processor by key. */
interface Notification {
  operation: string;
  idempotency_key: string;
  order_id: string;
  transaction_id: string;
  follow_up_order_id?: string | undefined;
}

/**
 * Handles a sign that the processor has, or may have, an outcome that the record lacks: a workflow asks it by key.
 * Methods throw ServiceUnavailable after the deadline (epoch milliseconds), and are safe to repeat.
 */
export class ProcessorNotifications {
  constructor(
    private readonly temporal: TemporalAccess,
    private readonly orders: Pick<OrderWorkflows, 'requestPoll'>,
    private readonly follow_ups: Pick<FollowUpWorkflows, 'requestPoll' | 'resumeAnnounced' | 'startReversal'>,
  ) {}

  /**
   * Handles a notification. About a payment: its order asks now, and a late approval is given back. About a follow-up
   * order: it asks now. An operation that the processor initiated is recorded once.
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

  /** Has what the processor has settled fetched. */
  async settlementsCreated(deadline_at: number): Promise<void> {
    const { client } = this.temporal;
    await callOnce(client, deadline_at, () => fetchSettlementsNow(client));
  }

  /** A customer has come back from the issuer, where the payment may have been approved or declined. */
  async customerReturned(payment: { order_id: string; transaction_id: string }, deadline_at: number): Promise<void> {
    await callOnce(this.temporal.client, deadline_at, () => this.pollPayment(payment, { with_declined: false }));
  }

  /**
   * The reversal does nothing unless the payment ended unpaid: only then may it have been approved late. `with_declined`:
   * or unless the processor said no, as a notification is a sign that it approved all the same (rules 10.18).
   */
  private async pollPayment(
    { order_id, transaction_id }: { order_id: string; transaction_id: string },
    { with_declined }: { with_declined: boolean },
  ): Promise<void> {
    await this.orders.requestPoll(order_id);
    await this.follow_ups.startReversal({ transaction_id, with_declined });
  }

  /** A notification about an unknown payment is ignored. */
  private async record(kind: 'chargeback' | 'reversal', notification: Notification): Promise<void> {
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
    // Recovery continues it should the workflow be lost before it has recorded anything.
    const is_recorded = follow_ups.some(({ id }) => id === order_id);
    if (!is_recorded) await announceOperation(db, announced, Date.now() + clock_offset_ms);
    await this.follow_ups.resumeAnnounced({ ...announced, project_id, clock_offset_ms });
  }
}
