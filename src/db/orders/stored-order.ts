import type { TransactionMoney } from '../../domain/amounts';
import type { ChargedBy } from '../../domain/order';
import type { OrderStatus, ProjectStatus, TransactionStatus } from '../../domain/transitions';
import type { FollowUpKind, OrderKind, RequestedBy } from '../../domain/follow-up';
import type { PaymentMethodDetails } from '../../domain/new-order';
import type { EventResult, EventSource } from '../../domain/transaction';
import { columnsFrom, columnsOf, fieldsAs } from '../columns';
import { prepared, queryRow, queryRows, type Database } from '../query';
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
  ended_at: string | null;
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
  /** Whether a customer's charge was about to be sent to the processor. */
  charge_began: boolean;
  /** Where the issuer waits for the customer while the transaction is pending. */
  challenge_url: string | null;
  /** The processor may still approve it after its end (rules 10.12), or an operator has to look at its order. */
  may_be_approved: boolean;
  received_3ds_result: 'authenticated' | 'attempted' | 'failed' | null;
  liability_shift: boolean | null;
  /** The number of polls without an outcome, and the time of the last one. */
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

const EVENT_COLUMNS = columnsOf<StoredEvent>()(
  'id, event, source, result, authorization_iso_response_code, occurred, noticed',
);

/** The fields of a transaction `t` that are not columns of it, in SQL. */
const TRANSACTION_FIELDS = {
  may_be_approved:
    'o.attention is not null or exists (select 1 from late_approval_watches w where w.transaction_id = t.id)',
  events: `(
    select coalesce(json_agg(e order by n), '[]'::json)
    from (select n, ${EVENT_COLUMNS} from transaction_events where transaction_id = t.id) e)`,
} satisfies Partial<Record<keyof StoredTransaction, string>>;
const TRANSACTION_COLUMNS = columnsOf<Omit<StoredTransaction, keyof typeof TRANSACTION_FIELDS>>()(
  'id, attempt, status, amount, currency, credit_debit, payment_method, payment_method_brand, payment_method_details, method_chosen_by, transaction_type, capture_mode, capture_period, capture_ends_at, captured_amount, voided_amount, refunded_amount, charged_back_amount, won_back_amount, capture_pending_amount, void_pending_amount, refund_pending_amount, original_transaction_id, receiver_account_token, expiration_period, expires_at, response_code, response_code_description, charge_began, challenge_url, received_3ds_result, liability_shift, polls, polled_at, settlement_currency, settlement_amount, fee_currency, fee_amount, created, modified',
);

/** The fields of an order `o` that are not columns of it, in SQL; `p` is its project, `m` its merchant. */
const ORDER_FIELDS = {
  merchant_id: 'p.merchant_id',
  merchant_name: 'm.name',
  is_test: 'p.is_test',
  project_payment_methods: 'p.payment_methods',
  project_status: 'p.status',
  transaction_expiration_period: 'p.transaction_expiration_period',
  clock_offset_ms: CLOCK_OFFSET,
  transactions: `coalesce((
    select json_agg(a order by a.attempt) from (
      select ${columnsFrom('t', TRANSACTION_COLUMNS)}, ${fieldsAs(TRANSACTION_FIELDS)}
      from transactions t where t.order_id = o.id
    ) a), '[]'::json)`,
  follow_ups: `coalesce((
    select json_agg(json_build_object('id', f.id, 'kind', f.kind, 'status', f.status) order by f.created, f.id)
    from orders f where f.related_order_id = o.id), '[]'::json)`,
} satisfies Partial<Record<keyof StoredOrder, string>>;
const ORDER_COLUMNS = columnsOf<Omit<StoredOrder, keyof typeof ORDER_FIELDS>>()(
  'id, kind, related_order_id, related_payment_link_id, project_id, merchant_order_id, description, currency, amount, status, ended, ended_by, ended_at, requested_by, attempts_max, charged_by, expiration_period, expires_at, payment_methods, return_url, failure_url, webhook_url, locale, customer, client, extra, order_lines, version, clock_id, created, modified, completed',
);

const ORDER_VIEW = `
  select ${columnsFrom('o', ORDER_COLUMNS)}, o.sequence, ${fieldsAs(ORDER_FIELDS)}
  from orders o join projects p on p.id = o.project_id join merchants m on m.id = p.merchant_id`;

const selectOrder = prepared<StoredOrder>('find order view', `${ORDER_VIEW} where o.id = :order_id`);

/** Everything a GET or the hosted page shows of one order, in one statement; `undefined` when there is none. */
export async function findStoredOrder(db: Database, order_id: string): Promise<StoredOrder | undefined> {
  const [order] = await selectOrder(db, { order_id });
  return order;
}

/** The version of an order, which grows with every change; `undefined` when there is none. */
export async function findOrderVersion(db: Database, order_id: string): Promise<number | undefined> {
  const order = await queryRow<{ version: number }>(db, 'select version from orders where id = :order_id', {
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

/**
 * Those of the orders that belong to the project, in the order of the ids: as many from the first on as the limits
 * allow.
 */
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
