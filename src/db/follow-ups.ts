import type { OrderRecord } from '../domain/move';
import type { FollowUpKind } from '../domain/follow-up';
import { rows, type Database } from './connection';
import { loadOrder } from './orders';

/** A follow-up order to be written beside the payment order it follows. */
export interface NewFollowUp {
  id: string;
  kind: FollowUpKind;
  /** The transaction whose money it moves. */
  original_transaction_id: string;
  /** The only transaction of the follow-up order. */
  transaction_id: string;
  credit_debit: 'credit' | 'debit';
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Writes a reversal of a payment that ended without being paid, in one statement: currency, amount, references and webhook
 * address are those of the original (DECISIONS, Money), whose version moves on as it shows the new order.
 * Repeat-safe. `undefined` when the original has not ended so.
 */
export async function insertReversal(db: Database, follow_up: NewFollowUp): Promise<OrderRecord | undefined> {
  const [result] = await rows<{ there: number }>(
    db,
    `with original as (
       select o.id, o.project_id, o.merchant_order_id, o.description, o.webhook_url, t.amount, t.currency, t.payment_method, t.payment_method_brand
       from transactions t join orders o on o.id = t.order_id
       where t.id = :original_transaction_id and t.status in ('expired', 'cancelled')
     ), f as (
       insert into orders (id, kind, related_order_id, project_id, merchant_order_id, description, currency, amount, status, attempts_max, webhook_url, created, modified)
       select :id, :kind, id, project_id, merchant_order_id, description, currency, amount, 'new', 1, webhook_url, :now, :now from original
       on conflict (id) do nothing
       returning id, related_order_id
     ), t as (
       insert into transactions (id, order_id, attempt, amount, currency, payment_method, payment_method_brand, credit_debit, transaction_type, status, created, modified)
       select :transaction_id, f.id, 1, o.amount, o.currency, o.payment_method, o.payment_method_brand, :credit_debit, :kind, 'new', :now, :now
       from f join original o on o.id = f.related_order_id
       returning id
     ), e as (
       insert into transaction_events (transaction_id, n, event, source, occurred, noticed) select id, 1, 'new', 'service', :now, :now from t
     ), v as (
       update orders set version = version + 1, modified = :now from f where orders.id = f.related_order_id
     )
     select count(*) as there from original`,
    { ...follow_up, now: new Date(follow_up.now).toISOString() },
  );
  return result?.there === 1 ? await loadOrder(db, follow_up.id) : undefined;
}
