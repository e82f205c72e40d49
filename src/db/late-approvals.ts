import type { LateApprovalWatch } from '../domain/waits';
import { toIsoTime, queryRows, type Database } from './connection';

/**
 * Transactions that ended unpaid and may have been approved late: the processor is asked about each until `poll_at`.
 * moveOrder writes the row with the end; it is here to survive the reversal's workflow (rules 10.12, 10.13).
 */

/** Writes a watch unless there is one. `poll_at` in epoch milliseconds. */
export async function insertWatch(db: Database, transaction_id: string, poll_at: number): Promise<void> {
  await queryRows(
    db,
    'insert into late_approval_watches (transaction_id, poll_at) values (:transaction_id, :poll_at) on conflict do nothing',
    { transaction_id, poll_at: toIsoTime(poll_at) },
  );
}

/** The watches of the transactions of these orders. */
export async function watchesOf(db: Database, order_ids: readonly string[]): Promise<LateApprovalWatch[]> {
  const found = await queryRows<{ transaction_id: string; poll_at: string }>(
    db,
    `select w.transaction_id, w.poll_at from late_approval_watches w join transactions t on t.id = w.transaction_id
     where t.order_id = any(:order_ids::uuid[])`,
    { order_ids },
  );
  return found.map(({ transaction_id, poll_at }) => ({ transaction_id, poll_at: Date.parse(poll_at) }));
}

/** Ends the watch: the reversal is recorded, and its own order is what is left to do. */
export async function endWatch(db: Database, transaction_id: string): Promise<void> {
  await queryRows(db, 'delete from late_approval_watches where transaction_id = :transaction_id', { transaction_id });
}

/** Ends the watch if it is due: asked at `now` (epoch milliseconds), the processor said that it had not approved. */
export async function endDueWatch(db: Database, transaction_id: string, now: number): Promise<void> {
  await queryRows(db, 'delete from late_approval_watches where transaction_id = :transaction_id and poll_at <= :now', {
    transaction_id,
    now: toIsoTime(now),
  });
}
