import type { OrderRecord, TransactionRecord } from '../domain/order-record';
import type { NewOrder, NewTransaction } from '../domain/new-order';
import type { OrderStatus } from '../domain/transitions';
import { tooLate } from '../errors';
import { iso, preparedRows, type Database } from './connection';
import { IN_TIME } from './in-time';
import { findOrder, loadOrder } from './order-record';

function orderRow(order: NewOrder, times: { created: number; expires_at: number }) {
  return {
    ...order,
    kind: 'payment',
    status: 'new' satisfies OrderStatus,
    expires_at: iso(times.expires_at),
    version: 0,
    moves: 0,
    created: iso(times.created),
    modified: iso(times.created),
  };
}

/** The columns of an insert, as `a, b`; all others get the database's defaults, including those of later migrations. */
const columns = <Row>(names: Record<keyof Row, true>) => Object.keys(names).join(', ');

const ORDER_COLUMNS = columns<ReturnType<typeof orderRow>>({
  id: true,
  project_id: true,
  merchant_order_id: true,
  description: true,
  currency: true,
  amount: true,
  attempts_max: true,
  charged_by: true,
  expiration_period: true,
  payment_methods: true,
  return_url: true,
  failure_url: true,
  webhook_url: true,
  locale: true,
  customer: true,
  client: true,
  extra: true,
  order_lines: true,
  kind: true,
  status: true,
  expires_at: true,
  version: true,
  moves: true,
  created: true,
  modified: true,
});

const TRANSACTION_COLUMNS = columns<ReturnType<typeof transactionRow>>({
  id: true,
  order_id: true,
  attempt: true,
  amount: true,
  currency: true,
  payment_method: true,
  payment_method_brand: true,
  payment_method_details: true,
  method_chosen_by: true,
  credit_debit: true,
  transaction_type: true,
  capture_mode: true,
  capture_period: true,
  receiver_account_token: true,
  status: true,
  expiration_period: true,
  expires_at: true,
  created: true,
  modified: true,
});

const ROW_OF_JSON = `select ${TRANSACTION_COLUMNS} from json_populate_record(null::transactions, :transaction::json)`;

function newTransactionRecord(
  { id, attempt, capture_mode, capture_period }: NewTransaction,
  expires_at: number,
): TransactionRecord {
  const authorization = capture_mode !== undefined && capture_period !== undefined;
  return {
    id,
    attempt,
    status: 'new',
    expires_at,
    ...(authorization && {
      capture: { capture_mode, capture_period, reserved: 0, unanswered: 0, freed: 0 },
    }),
  };
}

function transactionRow(
  transaction: NewTransaction,
  order: { id: string; amount: number; currency: string },
  method_chosen_by: 'merchant' | 'customer',
  times: { created: number; expires_at: number },
) {
  return {
    ...transaction,
    method_chosen_by,
    order_id: order.id,
    amount: order.amount,
    currency: order.currency,
    credit_debit: 'credit',
    status: 'new',
    expires_at: iso(times.expires_at),
    created: iso(times.created),
    modified: iso(times.created),
  };
}

/**
 * Writes the order and the transaction it came with, in one statement.
 * Repeat-safe: an existing order is returned as it is. Throws ServiceUnavailable when there is none and `not_after` has passed.
 */
export async function insertOrder(
  db: Database,
  order: NewOrder,
  transaction: NewTransaction | undefined,
  times: { created: number; expires_at: number; transaction_expires_at: number; not_after?: number | undefined },
): Promise<OrderRecord> {
  const [result] = await preparedRows<{ inserted: number }>(
    db,
    'insert order',
    `with o as (
       insert into orders (${ORDER_COLUMNS}) select ${ORDER_COLUMNS} from json_populate_record(null::orders, :order::json)
       where ${IN_TIME}
       on conflict (id) do nothing returning id
     ), t as (
       insert into transactions (${TRANSACTION_COLUMNS}) select row.* from o, (${ROW_OF_JSON}) row
       where row.id is not null
       returning id
     ), e as (
       insert into transaction_events (transaction_id, n, event, source, occurred, noticed)
       select id, 1, 'new', 'merchant', :created, :created from t
     )
     select count(*) as inserted from o`,
    {
      order: JSON.stringify(orderRow(order, times)),
      transaction: JSON.stringify(
        transaction
          ? transactionRow(transaction, order, 'merchant', {
              created: times.created,
              expires_at: times.transaction_expires_at,
            })
          : {},
      ),
      created: iso(times.created),
      not_after: times.not_after ?? null,
    },
  );
  if (result?.inserted !== 1) {
    const there = await findOrder(db, order.id);
    if (there === undefined) throw tooLate();
    return there;
  }
  return {
    id: order.id,
    status: 'new',
    version: 0,
    moves: 0,
    amount: order.amount,
    currency: order.currency,
    attempts_max: order.attempts_max,
    charged_by: order.charged_by,
    expires_at: times.expires_at,
    transactions: transaction ? [newTransactionRecord(transaction, times.transaction_expires_at)] : [],
    deliveries: [],
  };
}

/**
 * Adds a payment attempt to an order that is still as `order` describes it; a newer version that only changed fields (updateOrder)
 * does not matter.
 * Returns the order with it. Repeat-safe: an existing attempt stays as it is. Throws ServiceUnavailable as insertOrder does.
 */
export async function insertTransaction(
  db: Database,
  order: OrderRecord,
  transaction: NewTransaction,
  times: { created: number; expires_at: number; not_after?: number | undefined },
): Promise<OrderRecord> {
  const [result] = await preparedRows<{ inserted: number }>(
    db,
    'insert transaction',
    `with locked as (
       select id from orders
       where id = :order_id and version = :version and not exists (select 1 from transactions where id = :transaction_id)
       for update
     ), o as (
       -- Asked once the row is ours, not before: waiting for it may have taken long.
       update orders set version = version + 1, modified = :created from locked where orders.id = locked.id and ${IN_TIME}
       returning orders.id
     ), t as (
       insert into transactions (${TRANSACTION_COLUMNS}) select row.* from o, (${ROW_OF_JSON}) row
       returning id
     ), e as (
       insert into transaction_events (transaction_id, n, event, source, occurred, noticed)
       select id, 1, 'new', 'customer', :created, :created from t
     )
     select count(*) as inserted from t`,
    {
      order_id: order.id,
      version: order.version,
      transaction_id: transaction.id,
      transaction: JSON.stringify(
        transactionRow(
          transaction,
          { id: order.id, amount: order.amount, currency: order.currency },
          'customer',
          times,
        ),
      ),
      created: iso(times.created),
      not_after: times.not_after ?? null,
    },
  );
  if (result?.inserted !== 1) {
    const present = await loadOrder(db, order.id);
    if (present.version === order.version && !present.transactions.some((one) => one.id === transaction.id)) {
      throw tooLate();
    }
    const onlyFieldsChanged =
      present.version !== order.version && present.moves === order.moves && statusesOf(present) === statusesOf(order);
    return onlyFieldsChanged ? await insertTransaction(db, present, transaction, times) : present;
  }
  return {
    ...order,
    version: order.version + 1,
    transactions: [...order.transactions, newTransactionRecord(transaction, times.expires_at)],
  };
}

const statusesOf = ({ status, transactions }: OrderRecord) => [status, ...transactions.map((one) => one.status)].join();
