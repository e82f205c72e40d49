import type { PaymentId } from '../../domain/follow-up';
import { toIsoTime, queryRows, type Database } from '../connection';

/**
 * Operations that the processor announced, a chargeback or one that was won back. A row lasts until the processor knows
 * the operation when it is asked, which may be later than its notification (rules 10.9).
 */
export interface AnnouncedOperation extends PaymentId {
  /** The order that records it. */
  order_id: string;
  kind: 'chargeback' | 'reversal';
  /** The key under which the processor did it. */
  processor_key: string;
}

/** Writes it unless it is there. Returns when it was announced first; instants in epoch milliseconds. */
export async function announceOperation(db: Database, operation: AnnouncedOperation, now: number): Promise<number> {
  const { order_id, kind, processor_key, original_order_id, original_transaction_id } = operation;
  const [row] = await queryRows<{ announced: string }>(
    db,
    `insert into announced_operations
       (order_id, kind, processor_key, original_order_id, original_transaction_id, announced)
     values (:order_id, :kind, :processor_key, :original_order_id, :original_transaction_id, :now)
     on conflict (order_id) do update set announced = announced_operations.announced
     returning announced`,
    { order_id, kind, processor_key, original_order_id, original_transaction_id, now: toIsoTime(now) },
  );
  return Date.parse(row!.announced);
}

/** The processor has answered, or an operator has to look. */
export async function endAnnouncement(db: Database, order_id: string): Promise<void> {
  await queryRows(db, 'delete from announced_operations where order_id = :order_id', { order_id });
}
