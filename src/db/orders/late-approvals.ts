import { nextLatePoll } from '../../domain/transaction';
import type { LateApprovalWatch } from '../../domain/waits';
import { toIsoTime } from '../../time';
import { epochMsSql } from '../columns';
import { nextVersionSql, queryRow, queryRows, type Database } from '../query';
import type { OrderIds } from '../webhooks/deliveries';

/**
 * Transactions that the processor may have approved although the record says that they ended unpaid or were refused.
 * The processor is polled about each at `poll_at`, and again until it answers. moveOrder writes the row with the end;
 * it survives the loss of the workflow that polls (rules 10.12, 10.13).
 */

/**
 * Writes a watch unless there is one. Instants in epoch milliseconds. `is_sign`: there is a new sign of an approval,
 * behind which the processor's look-up may lag, so a watch that was polled already begins anew. One that was not keeps
 * its first poll: the customer may still be at the issuer.
 */
export async function insertWatch(
  db: Database,
  transaction_id: string,
  { poll_at, began, is_sign = false }: { poll_at: number; began: number; is_sign?: boolean },
): Promise<void> {
  await queryRows(
    db,
    `insert into late_approval_watches as w (transaction_id, poll_at, began) values (:transaction_id, :poll_at, :began)
     on conflict (transaction_id) do update set poll_at = least(w.poll_at, excluded.poll_at), began = excluded.began
     where :is_sign::boolean and (w.polls > 0 or w.poll_at <= excluded.began)`,
    { transaction_id, poll_at: toIsoTime(poll_at), began: toIsoTime(began), is_sign },
  );
}

const WATCH = `
  select w.transaction_id, ${epochMsSql('w.poll_at')} as poll_at, w.polls, ${epochMsSql('w.began')} as began
  from late_approval_watches w`;

/** The watches of the transactions of these orders. */
export async function watchesOf(db: Database, { sql, bindings }: OrderIds): Promise<LateApprovalWatch[]> {
  return await queryRows<LateApprovalWatch>(
    db,
    `${WATCH} join transactions t on t.id = w.transaction_id where t.order_id in (${sql})`,
    bindings,
  );
}

/** The watch of a transaction; `undefined` when there is none. */
export async function findWatch(db: Database, transaction_id: string): Promise<LateApprovalWatch | undefined> {
  return await queryRow<LateApprovalWatch>(db, `${WATCH} where w.transaction_id = :transaction_id`, {
    transaction_id,
  });
}

/**
 * Sets the next poll after one at `now` that had no answer, if it was due. Returns whether the answer is overdue. Epoch
 * milliseconds.
 */
export async function postponeWatch(
  db: Database,
  { transaction_id, began, poll_at: due_at }: LateApprovalWatch,
  now: number,
): Promise<boolean> {
  const { poll_at, is_overdue } = nextLatePoll(began, now);
  if (due_at <= now) {
    await queryRows(
      db,
      `update late_approval_watches set poll_at = greatest(poll_at, :poll_at), polls = polls + 1
       where transaction_id = :transaction_id`,
      { transaction_id, poll_at: toIsoTime(poll_at) },
    );
  }
  return is_overdue;
}

/** Deletes the watch of a payment whose reversal is recorded. */
export async function endWatchOfReversed(db: Database, transaction_id: string): Promise<void> {
  await queryRows(db, 'delete from late_approval_watches where transaction_id = :transaction_id', { transaction_id });
}

/**
 * Deletes the watch of a transaction: there is nothing to reverse, or an operator has to act. Gives its order a new
 * version: the audit has not compared it while it was watched (rules 26.2). Locks the order first, as all statements do.
 */
export async function endWatch(db: Database, transaction_id: string): Promise<void> {
  await queryRows(
    db,
    `with o as (
       select orders.id from transactions t join orders on orders.id = t.order_id
       where t.id = :transaction_id for update of orders
     ), ended as (
       delete from late_approval_watches
       where transaction_id = :transaction_id and exists (select from o) returning 1
     )
     update orders set ${nextVersionSql('orders', 'clock_timestamp()')}
     from o where orders.id = o.id and exists (select from ended)`,
    { transaction_id },
  );
}
