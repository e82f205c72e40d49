import type { TransactionMoney } from '../../domain/amounts';
import type { ChargedBy } from '../../domain/order';
import type { OrderStatus, ProjectStatus, TransactionStatus } from '../../domain/transitions';
import type { FollowUpKind, OrderKind, RequestedBy } from '../../domain/follow-up';
import type { PaymentMethodDetails } from '../../domain/new-order';
import type { EventResult, EventSource } from '../../domain/transaction';
import { queryPrepared, queryRows, type Database } from '../connection';
import { BY_SEQUENCE, createdIn, readPart, type ListPart, type Part, type PartLimits } from '../pages';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';

/**
 * An order with its transactions and their events as the database holds them; absent values are null. Instants are ISO
 * 8601 texts in UTC.
 */
export interface StoredOrder {
  id: string;
  kind: OrderKind;
  /** The payment order that a follow-up order belongs to. */
  related_order_id: string | null;
  /** The payment link that it pays. */
  related_payment_link_id: string | null;
  /** Follow-up orders of this one, oldest first. */
  follow_ups: { id: string; kind: FollowUpKind; status: OrderStatus }[];
  project_id: string;
  merchant_id: string;
  merchant_name: string;
  is_test: boolean;
  merchant_order_id: string | null;
  description: string | null;
  /** ISO 4217. */
  currency: string;
  /** Minor units. */
  amount: number;
  status: OrderStatus;
  ended: 'cancelled' | 'expired' | null;
  ended_by: EventSource | null;
  /** Who requested a follow-up order. */
  requested_by: RequestedBy | null;
  attempts_max: number;
  /** Null for a follow-up order. */
  charged_by: ChargedBy | null;
  /** Null on follow-up orders, which do not expire. */
  expiration_period: string | null;
  expires_at: string | null;
  payment_methods: string[] | null;
  /** Methods active in the project: what the hosted page offers when the order names none. */
  project_payment_methods: string[];
  /** A suspended project takes no new payments (rules 21.10). */
  project_status: ProjectStatus;
  /** The project's default for a transaction that names none. */
  transaction_expiration_period: string;
  return_url: string | null;
  failure_url: string | null;
  webhook_url: string | null;
  locale: string | null;
  customer: Record<string, unknown> | null;
  client: Record<string, unknown> | null;
  extra: Record<string, unknown> | null;
  order_lines: Record<string, unknown>[] | null;
  version: number;
  /**
   * The payment link or payment order whose clock it uses, and how far that is ahead of real time, in milliseconds.
   */
  clock_id: string;
  clock_offset_ms: number;
  created: string;
  modified: string;
  completed: string | null;
  /** Oldest first. */
  transactions: StoredTransaction[];
}

/** A transaction with its money: amounts in minor units. */
export interface StoredTransaction extends Omit<TransactionMoney, 'capture_ends_at'> {
  id: string;
  attempt: number;
  currency: string;
  credit_debit: 'credit' | 'debit';
  payment_method: string;
  payment_method_brand: string | null;
  payment_method_details: PaymentMethodDetails | null;
  /** Who chose payment_method; null on a follow-up order. */
  method_chosen_by: 'merchant' | 'customer' | null;
  transaction_type: 'authorization' | 'aft' | FollowUpKind | null;
  /** From acceptance to the end of the capture window, and that end once it is known. */
  capture_period: string | null;
  capture_ends_at: string | null;
  /** On a follow-up order: the payment transaction whose money it moves. */
  original_transaction_id: string | null;
  receiver_account_token: string | null;
  expiration_period: string | null;
  expires_at: string | null;
  response_code: string | null;
  response_code_description: string | null;
  /** Where the issuer waits for the customer while the transaction is pending. */
  challenge_url: string | null;
  received_3ds_result: 'authenticated' | 'attempted' | 'failed' | null;
  liability_shift: boolean | null;
  /** How often the processor was asked for an outcome that it did not have, and when last. */
  polls: number;
  polled_at: string | null;
  /** The amounts that the processor paid out and kept; null until it is settled. */
  settlement_currency: string | null;
  settlement_amount: number | null;
  fee_currency: string | null;
  fee_amount: number | null;
  created: string;
  modified: string;
  events: StoredEvent[];
}

/** One status change: when it happened, and when the service learned of it. */
export interface StoredEvent {
  id: string;
  event: TransactionStatus;
  source: EventSource;
  result: EventResult | null;
  authorization_iso_response_code: string | null;
  occurred: string;
  noticed: string;
}

/** A transaction's money as decisions need it. */
export function moneyOf(transaction: StoredTransaction): TransactionMoney {
  return {
    ...transaction,
    capture_ends_at: transaction.capture_ends_at === null ? null : Date.parse(transaction.capture_ends_at),
  };
}

const ORDER_VIEW = `
     select o.id, o.kind, o.related_order_id, o.related_payment_link_id, o.project_id, o.merchant_order_id,
       o.description, o.currency, o.amount, o.status, o.ended, o.ended_by, o.requested_by, o.attempts_max, o.charged_by,
       o.expiration_period, o.expires_at, o.payment_methods, o.return_url, o.failure_url, o.webhook_url, o.locale,
       o.customer, o.client, o.extra, o.order_lines, o.version, o.clock_id, o.sequence, o.created, o.modified, o.completed,
       p.merchant_id, m.name as merchant_name, p.is_test, p.payment_methods as project_payment_methods,
       p.status as project_status, p.transaction_expiration_period, ${CLOCK_OFFSET} as clock_offset_ms,
       coalesce((
         select json_agg(a order by a.attempt) from (
           select t.*, (
             select coalesce(json_agg(e order by e.n), '[]'::json) from transaction_events e where e.transaction_id = t.id
           ) as events from transactions t where t.order_id = o.id
         ) a
       ), '[]'::json) as transactions,
       coalesce((
         select json_agg(json_build_object('id', f.id, 'kind', f.kind, 'status', f.status) order by f.created, f.id)
         from orders f where f.related_order_id = o.id
       ), '[]'::json) as follow_ups
     from orders o join projects p on p.id = o.project_id join merchants m on m.id = p.merchant_id`;

/** Everything a GET or the hosted page shows of one order, in one statement; `undefined` when there is none. */
export async function findStoredOrder(db: Database, order_id: string): Promise<StoredOrder | undefined> {
  const sql = `${ORDER_VIEW} where o.id = :order_id`;
  const [order] = await queryPrepared<StoredOrder>(db, 'find order view', sql, { order_id });
  return order;
}

/** The version of an order, which grows with every change; `undefined` when there is none. */
export async function findOrderVersion(db: Database, order_id: string): Promise<number | undefined> {
  const [order] = await queryRows<{ version: number }>(db, 'select version from orders where id = :order_id', {
    order_id,
  });
  return order?.version;
}

/** Those of the orders that belong to the project, in any order. */
export async function findStoredOrders(
  db: Database,
  project_id: string,
  order_ids: readonly string[],
): Promise<StoredOrder[]> {
  return await queryRows<StoredOrder>(
    db,
    `${ORDER_VIEW} where o.id = any(:order_ids::uuid[]) and o.project_id = :project_id`,
    { project_id, order_ids },
  );
}

/** Those of the orders that belong to the project, in the order of the ids: as many from the first on as the limits allow. */
export async function firstStoredOrders(
  db: Database,
  project_id: string,
  order_ids: readonly string[],
  limits: PartLimits,
): Promise<Part<StoredOrder>> {
  const where = ['id = any(:order_ids::uuid[])', 'project_id = :project_id'];
  const key = [['array_position(:order_ids::uuid[], id)', 'integer']] as const;
  const list = { select: ORDER_VIEW, where, key, direction: 'asc', bindings: { project_id, order_ids } } as const;
  return await readPart(db, list, limits);
}

/** A part of the project's orders that were created in a period, newest first. */
export async function listStoredOrders(
  db: Database,
  project_id: string,
  { period, limits, after }: ListPart,
): Promise<Part<StoredOrder>> {
  return await readPart(db, { select: ORDER_VIEW, ...createdIn(project_id, period), key: BY_SEQUENCE }, limits, after);
}
