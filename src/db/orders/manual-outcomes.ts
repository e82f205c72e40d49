import { latestAttempt, type OrderSnapshot } from '../../domain/order-snapshot';
import type { ManualOutcome } from '../../domain/outcome';
import type { TransactionStatus } from '../../domain/transitions';
import { recordChange, type Actor, type AuditRow } from '../projects/audit-trail';
import { queryRow, type Database, type SqlTransaction } from '../query';
import { loadOrderSnapshot } from './order-snapshot';
import { readPage, type ListPage, type PageRequest } from '../pages';

/** Outcomes that an operator sets by hand (rules 10.14), and unknown outcomes. */

const ACTION = 'transaction.set_outcome';

/** An outcome set by hand, as the audit trail records it. */
interface ManualOutcomeDetails extends ManualOutcome {
  order_id: string;
  order_status: OrderSnapshot['status'];
  status: TransactionStatus;
}

/** The entry of the audit trail for an outcome set by hand. */
export interface ManualOutcomeEntry extends AuditRow {
  after: ManualOutcomeDetails;
}

/**
 * Sets the outcome of the last transaction of an order of any kind. `move` makes the move unless the outcome is known
 * already; the entry of the audit trail is written with it. Repeat-safe: without a move there is no entry.
 */
export async function recordManualOutcome(
  db: Database,
  {
    order_id,
    manual_outcome: { outcome, reason },
    by,
  }: {
    order_id: string;
    manual_outcome: ManualOutcome;
    by: { actor: Actor; request_id?: string | undefined };
  },
  move: (trx: SqlTransaction, order: OrderSnapshot) => Promise<OrderSnapshot>,
): Promise<void> {
  await db.transaction(async (trx) => {
    const merchant_id = await lockPaymentOf(trx, order_id);
    const before = await loadOrderSnapshot(trx, order_id);
    const after = await move(trx, before);
    if (after.version === before.version) return;
    const change = {
      action: ACTION,
      object: { kind: 'transaction', id: latestAttempt(before)!.id },
      merchant_id,
      before: summaryOf(before),
      after: { ...summaryOf(after), outcome, reason } satisfies ManualOutcomeDetails,
    };
    await recordChange(trx, change, by, new Date());
  });
}

const summaryOf = (order: OrderSnapshot) => ({
  order_id: order.id,
  order_status: order.status,
  status: latestAttempt(order)!.status,
});

/**
 * Locks the payment order that an order is or belongs to until the SQL transaction ends, so that no other move
 * interferes. Returns its merchant.
 */
async function lockPaymentOf(trx: SqlTransaction, order_id: string): Promise<string | undefined> {
  const payment = await queryRow<{ merchant_id: string }>(
    trx,
    `select p.merchant_id from orders o join projects p on p.id = o.project_id
     where o.id = (select coalesce(related_order_id, id) from orders where id = :order_id) for update of o`,
    { order_id },
  );
  return payment?.merchant_id;
}

/** The manual outcome of a transaction; `undefined` when there is none. */
export async function findManualOutcome(db: Database, transaction_id: string): Promise<ManualOutcomeEntry | undefined> {
  return await queryRow<ManualOutcomeEntry>(
    db,
    'select * from audit_trail where object_id = :transaction_id and action = :action',
    { transaction_id, action: ACTION },
  );
}

/**
 * The order of a transaction, with the fields that a manual outcome needs; `undefined` when there is no such
 * transaction.
 */
export async function findOrderOfTransaction(
  db: Database,
  transaction_id: string,
): Promise<{ order_id: string; is_payment: boolean; status: TransactionStatus } | undefined> {
  return await queryRow<{ order_id: string; is_payment: boolean; status: TransactionStatus }>(
    db,
    `select o.id as order_id, o.kind = 'payment' as is_payment, t.status
     from transactions t join orders o on o.id = t.order_id where t.id = :transaction_id`,
    { transaction_id },
  );
}

/** A transaction whose outcome the processor has not given. */
export interface UnknownOutcome {
  transaction_id: string;
  order_id: string;
  kind: string;
  project_id: string;
  amount: number;
  currency: string;
  /** Since when the outcome is awaited, and when the processor was polled last. */
  since: string;
  polled_at: string | null;
  polls: number;
}

/** Transactions of any kind whose outcome is unknown, the newest first. */
export async function listUnknownOutcomes(db: Database, page: PageRequest): Promise<ListPage<UnknownOutcome>> {
  return await readPage(db, page, {
    select: `select t.id as transaction_id, o.id as order_id, o.kind, o.project_id, t.amount, t.currency, t.polled_at, t.polls, t.modified,
          (select max(e.noticed) from transaction_events e where e.transaction_id = t.id and e.event = 'processing') as since
        from transactions t join orders o on o.id = t.order_id where t.status = 'processing'`,
    // The columns of the index transactions_processing. `modified` is when the outcome became unknown.
    key: [
      ['modified', 'timestamptz'],
      ['transaction_id', 'uuid'],
    ],
  });
}
