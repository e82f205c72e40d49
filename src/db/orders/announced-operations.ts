import type { PaymentId } from '../../domain/follow-up';
import { toIsoTime } from '../../time';
import { epochMsSql } from '../columns';
import { nextVersionSql, queryRows, queryValue, type Database } from '../query';

/**
 * Operations that the processor announced: chargebacks and won chargebacks. A row lasts until the processor's look-up
 * finds the operation, which may be later than the notification (rules 10.9).
 */
export interface AnnouncedOperation extends PaymentId {
  /** The order that records it. */
  order_id: string;
  kind: 'chargeback' | 'reversal';
  /** The processor's key of the operation. */
  processor_key: string;
}

/** Writes the operation unless it exists. Returns when it was first announced. Epoch milliseconds. */
export async function announceOperation(db: Database, operation: AnnouncedOperation, now: number): Promise<number> {
  const { order_id, kind, processor_key, original_order_id, original_transaction_id } = operation;
  return await queryValue<number>(
    db,
    `insert into announced_operations
       (order_id, kind, processor_key, original_order_id, original_transaction_id, announced)
     values (:order_id, :kind, :processor_key, :original_order_id, :original_transaction_id, :now)
     on conflict (order_id) do update set announced = announced_operations.announced
     returning ${epochMsSql('announced')} as announced`,
    { order_id, kind, processor_key, original_order_id, original_transaction_id, now: toIsoTime(now) },
  );
}

/**
 * Deletes the row: the processor has answered, or an operator has to act. The payment gets a new version: the audit has
 * not compared it meanwhile (rules 26.2).
 */
export async function endAnnouncement(db: Database, order_id: string): Promise<void> {
  await queryRows(
    db,
    `with ended as (
       delete from announced_operations where order_id = :order_id returning original_order_id
     )
     update orders set ${nextVersionSql('orders', 'clock_timestamp()')}
     from ended where orders.id = ended.original_order_id`,
    { order_id },
  );
}
