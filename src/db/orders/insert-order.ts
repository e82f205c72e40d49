import { transactionOf, type OrderSnapshot, type TransactionSnapshot } from '../../domain/order-snapshot';
import type { NewOrder, NewTransaction } from '../../domain/new-order';
import { PAYMENT_LINK_ATTEMPTS_MAX, linkObstacle, linkRefusal } from '../../domain/payment-link';
import { PAYMENT_LINK_MOVES, statusesBefore, type OrderStatus } from '../../domain/transitions';
import type { AcceptedRequest } from '../../domain/accepted-request';
import { tooLate } from '../../errors';
import { modifiedAtSql, nextVersionSql, prepared, type Database } from '../query';
import { findOrderSnapshot, loadOrderSnapshot } from './order-snapshot';
import { columnsOf } from '../columns';
import { findPaymentLinkSnapshot } from '../payment-links';
import { claimBindings, claimRequest } from '../requests/request-claims';
import { LINK_CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';
import { toIsoTime } from '../../time';

/** The payment link that an order pays; its expires_at in epoch milliseconds, its clock as in OrderSnapshot. */
type PaymentLink = NonNullable<OrderSnapshot['payment_link']> & Pick<OrderSnapshot, 'clock_offset_ms'>;

/** Who chooses the payment method. */
type ChosenBy = 'merchant' | 'customer';

function orderRow(
  order: NewOrder,
  payment_link: PaymentLink | undefined,
  times: { created: number; expires_at: number },
) {
  return {
    ...order,
    related_payment_link_id: payment_link?.id,
    clock_id: payment_link?.id ?? order.id,
    kind: 'payment',
    status: 'new' satisfies OrderStatus,
    expires_at: toIsoTime(times.expires_at),
    version: 0,
    created: toIsoTime(times.created),
    modified: toIsoTime(times.created),
  };
}

// All other columns, including those of later migrations, get the database's defaults.
const ORDER_COLUMNS = columnsOf<ReturnType<typeof orderRow>>()(
  'id, project_id, merchant_order_id, description, currency, amount, attempts_max, charged_by, expiration_period, payment_methods, return_url, failure_url, webhook_url, locale, customer, client, extra, order_lines, related_payment_link_id, clock_id, kind, status, expires_at, version, created, modified',
);
const TRANSACTION_COLUMNS = columnsOf<ReturnType<typeof transactionRow>>()(
  'id, order_id, attempt, amount, currency, payment_method, payment_method_brand, payment_method_details, method_chosen_by, credit_debit, transaction_type, capture_mode, capture_period, receiver_account_token, status, charge_began, expiration_period, expires_at, created, modified',
);

const ROW_OF_JSON = `select ${TRANSACTION_COLUMNS} from json_populate_record(null::transactions, :transaction::json)`;

function newTransactionSnapshot(
  { id, attempt, capture_mode, capture_period }: NewTransaction,
  expires_at: number,
): TransactionSnapshot {
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
  begun: { method_chosen_by: ChosenBy; charge_began: boolean },
  times: { created: number; expires_at: number },
) {
  return {
    ...transaction,
    ...begun,
    order_id: order.id,
    amount: order.amount,
    currency: order.currency,
    credit_debit: 'credit',
    status: 'new',
    expires_at: toIsoTime(times.expires_at),
    created: toIsoTime(times.created),
    modified: toIsoTime(times.created),
  };
}

/**
 * Locks a link that takes a payment attempt: one at a time, before the link expires, 25 at most (rules 19.4), by the
 * link's own clock. The row stays locked until the order is written. This statement alone decides between payers, the
 * merchant who ends the link, and its end.
 */
const LOCK_LINK = `locked as (
       select id from payment_links l
       where id = :payment_link_id and status = any(:link_sources::text[]) and attempts < :attempts_max
         and expires_at > :created::timestamptz and ${LINK_CLOCK_OFFSET} = :clock_offset_ms
         and not exists (select 1 from orders where id = :order_id)
       for update
     )`;

const BEGIN_LINK_ATTEMPT = `
       update payment_links set status = 'processing', attempts = attempts + 1, ${nextVersionSql('payment_links', ':created')}
       from locked, in_time where payment_links.id = locked.id
       returning 1`;

/**
 * The statement of insertOrder. `claimed`: the CTEs of claimRequest. `permitted`: a query with one row if the order may
 * be written. `if_exists`: what then.
 */
const insertStatement = (
  name: string,
  {
    chosen_by,
    claimed,
    permitted,
    if_exists,
  }: { chosen_by: ChosenBy; claimed: string; permitted: string; if_exists: string },
) =>
  prepared<{ inserted: number }>(
    name,
    `with ${claimed}, permitted as (
       ${permitted}
     ), o as (
       insert into orders (${ORDER_COLUMNS})
       select ${ORDER_COLUMNS} from permitted, json_populate_record(null::orders, :order::json)
       ${if_exists} returning id
     ), t as (
       insert into transactions (${TRANSACTION_COLUMNS}) select row.* from o, (${ROW_OF_JSON}) row
       where row.id is not null
       returning id
     ), e as (
       insert into transaction_events (transaction_id, n, event, source, occurred, noticed)
       select id, 1, 'new', '${chosen_by}', :created, :created from t
     )
     select count(*) as inserted from o`,
  );

const insertNewOrder = insertStatement('insert order', {
  chosen_by: 'merchant',
  claimed: claimRequest(),
  permitted: 'select 1 from in_time',
  if_exists: 'on conflict (id) do nothing',
});
// Fails for an order that was written while the statement waited for the row of the link, and which it does not see:
// otherwise the link would be in progress without an order. The retry finds the order.
const insertOrderOfLink = insertStatement('insert order of payment link', {
  chosen_by: 'customer',
  claimed: `${LOCK_LINK}, ${claimRequest('locked')}`,
  permitted: BEGIN_LINK_ATTEMPT,
  if_exists: '',
});

/**
 * Writes the order and the transaction it came with, in one statement; with `payment_link`, the link moves in it too.
 * Repeat-safe: an existing order is returned as it is. Throws ServiceUnavailable when there is none and the request
 * came too late or was withdrawn, or the link's clock was advanced meanwhile, TransactionAlreadyStarted when the
 * payment link takes no attempt.
 */
export async function insertOrder(
  db: Database,
  order: NewOrder,
  transaction: NewTransaction | undefined,
  details: {
    created: number;
    expires_at: number;
    transaction_expires_at: number;
    payment_link?: PaymentLink | undefined;
    request: AcceptedRequest;
  },
): Promise<OrderSnapshot> {
  const { created, payment_link } = details;
  // The customer chooses the method on a link's page, the merchant with an order.
  const begun = { method_chosen_by: payment_link ? 'customer' : 'merchant', charge_began: false } as const;
  const times = { created, expires_at: details.transaction_expires_at };
  const bindings = {
    order: JSON.stringify(orderRow(order, payment_link, details)),
    transaction: JSON.stringify(transaction ? transactionRow(transaction, order, begun, times) : {}),
    created: toIsoTime(created),
    ...claimBindings(details.request),
  };
  const [result] = payment_link
    ? await insertOrderOfLink(db, {
        ...bindings,
        order_id: order.id,
        payment_link_id: payment_link.id,
        clock_offset_ms: payment_link.clock_offset_ms,
        link_sources: statusesBefore(PAYMENT_LINK_MOVES, 'processing'),
        attempts_max: PAYMENT_LINK_ATTEMPTS_MAX,
      })
    : await insertNewOrder(db, bindings);
  if (result?.inserted !== 1) {
    const existing = await findOrderSnapshot(db, order.id);
    if (existing !== undefined) return existing;
    if (payment_link !== undefined) await refuseLinkAttempt(db, payment_link.id, created);
    throw tooLate();
  }
  return {
    id: order.id,
    project_id: order.project_id,
    status: 'new',
    version: 0,
    amount: order.amount,
    currency: order.currency,
    attempts_max: order.attempts_max,
    charged_by: order.charged_by,
    ...(payment_link && { payment_link: { id: payment_link.id, expires_at: payment_link.expires_at } }),
    expires_at: details.expires_at,
    clock_offset_ms: payment_link?.clock_offset_ms ?? 0,
    transactions: transaction ? [newTransactionSnapshot(transaction, details.transaction_expires_at)] : [],
    deliveries: [],
  };
}

/** Throws TransactionAlreadyStarted when the link takes no attempt. */
async function refuseLinkAttempt(db: Database, payment_link_id: string, now: number): Promise<void> {
  const link = await findPaymentLinkSnapshot(db, payment_link_id);
  const obstacle = link && linkObstacle(link, now);
  if (obstacle !== undefined) throw linkRefusal(obstacle);
}

const insertAttempt = prepared<{ begun: number }>(
  'begin attempt',
  `with locked as (
     select id from orders
     where id = :order_id and version = :version
       and not exists (select 1 from transactions where id = :transaction_id and (charge_began or status <> 'new'))
     for update
   ), ${claimRequest('locked')}, o as (
     update orders set ${nextVersionSql('orders', ':created')}
     from locked, in_time where orders.id = locked.id
     returning orders.id
   ), t as (
     insert into transactions (${TRANSACTION_COLUMNS}) select row.* from o, (${ROW_OF_JSON}) row
     on conflict (id) do update set
       charge_began = true,
       ${modifiedAtSql('transactions', 'excluded.modified')},
       payment_method = excluded.payment_method,
       payment_method_brand = coalesce(excluded.payment_method_brand, transactions.payment_method_brand),
       payment_method_details = coalesce(excluded.payment_method_details, transactions.payment_method_details)
     returning id
   ), e as (
     insert into transaction_events (transaction_id, n, event, source, occurred, noticed)
     select id, 1, 'new', 'customer', :created, :created from t
     on conflict do nothing
   )
   select count(*) as begun from t`,
);

/**
 * Begins a payment attempt of an order that is still as `order` describes it, before its charge is sent: adds its
 * transaction, or notes in the one that came with the order what it is paid with. A newer version that only changed
 * fields (updateOrder) does not matter. Returns the order with it. Repeat-safe: an attempt that began stays as it is.
 * Throws ServiceUnavailable when it has not begun and the request came too late or was withdrawn.
 */
export async function beginAttempt(
  db: Database,
  order: OrderSnapshot,
  transaction: NewTransaction,
  details: { created: number; expires_at: number; request: AcceptedRequest },
): Promise<OrderSnapshot> {
  const row = transactionRow(transaction, order, { method_chosen_by: 'customer', charge_began: true }, details);
  const [result] = await insertAttempt(db, {
    order_id: order.id,
    version: order.version,
    transaction_id: transaction.id,
    transaction: JSON.stringify(row),
    created: toIsoTime(details.created),
    ...claimBindings(details.request),
  });
  const there = transactionOf(order, transaction.id);
  if (result?.begun === 1) {
    const begun = {
      ...(there ?? newTransactionSnapshot(transaction, details.expires_at)),
      charge_began: true as const,
    };
    const others = order.transactions.filter((one) => one !== there);
    return { ...order, version: order.version + 1, transactions: [...others, begun] };
  }
  const current = await loadOrderSnapshot(db, order.id);
  if (current.version === order.version && !hasBegun(transactionOf(current, transaction.id))) throw tooLate();
  const onlyFieldsChanged = current.version !== order.version && statusesOf(current) === statusesOf(order);
  return onlyFieldsChanged ? await beginAttempt(db, current, transaction, details) : current;
}

const hasBegun = (transaction: TransactionSnapshot | undefined) =>
  transaction !== undefined && (transaction.charge_began === true || transaction.status !== 'new');

const statusesOf = ({ status, transactions }: OrderSnapshot) =>
  [status, ...transactions.map((one) => one.status)].join();
