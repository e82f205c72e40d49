import { v7 as uuidv7 } from 'uuid';
import { queryRows, type Database } from '../../src/db/query';
import { recordFollowUpOutcome } from '../../src/db/orders/follow-ups';
import { insertOrder } from '../../src/db/orders/insert-order';
import { moveOrder } from '../../src/db/orders/move-order';
import { recordAttempt, updateDelivery } from '../../src/db/webhooks/deliveries';
import { insertWebhookRecovery } from '../../src/db/webhooks/recoveries';
import type { DeliveryKey } from '../../src/domain/delivery';
import {
  creditDebitOf,
  type FollowUpKind,
  type FollowUpRequest,
  type NewFollowUp,
  type OrderKind,
  type RequestedBy,
} from '../../src/domain/follow-up';
import type { NewOrder, NewTransaction } from '../../src/domain/new-order';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import { transactionId } from '../../src/ids';
import { toIsoTime } from '../../src/time';
import { MINUTE, NO_AMOUNTS, NOW, PROJECT, aRequest, aTransaction, anOrder, transactionIdOf } from './domain';

/** Writes an order that ends half an hour after NOW, with one transaction unless told otherwise. */
export async function aStoredOrder(
  db: Database,
  over: Partial<NewOrder> & { transaction?: Partial<NewTransaction> | false } = {},
): Promise<OrderSnapshot> {
  const { transaction = {}, ...fields } = over;
  const order = anOrder(fields);
  const end = NOW + 30 * MINUTE;
  return await insertOrder(db, order, transaction === false ? undefined : aTransaction(order.id, transaction), {
    created: NOW,
    expires_at: end,
    transaction_expires_at: end,
    request: aRequest(),
  });
}

/** Milliseconds from NOW to the end of the capture window of anAcceptedPayment. */
const CAPTURE_PERIOD = 5 * 24 * 60 * 60_000;
export const CAPTURE_END = NOW + CAPTURE_PERIOD;

export type PaymentMode = 'sale' | 'manual' | 'delayed';

/**
 * A payment that was approved at NOW: a sale captured whole, or an authorization that holds all of it for five days.
 */
export async function anAcceptedPayment(
  db: Database,
  { mode = 'sale', amount = 100 }: { mode?: PaymentMode; amount?: number } = {},
): Promise<OrderSnapshot> {
  const sale = mode === 'sale';
  const details = {
    vault_token: 'tok',
    truncated_pan: '411111******1111',
    receiver_account_number: '411111******1111',
    receiver_account_number_type: 'card-account',
  };
  const order = await aStoredOrder(db, {
    amount,
    merchant_order_id: 'A-1',
    description: 'Two tickets',
    webhook_url: 'https://shop.example/orders',
    customer: { first_name: 'Ada' },
    extra: { a: 1 },
    transaction: {
      payment_method_brand: 'visa',
      payment_method_details: details,
      ...(!sale && { capture_mode: mode, capture_period: 'P5D', transaction_type: 'authorization' }),
    },
  });
  const { id: transaction_id } = order.transactions[0]!;
  return await moveOrder(
    db,
    order,
    { transaction_id, to: 'accepted', ...(!sale && { capture_ends_at: CAPTURE_END }) },
    { source: 'processor', now: NOW, result: 'approved', transaction: { captured_amount: sale ? amount : 0 } },
  );
}

export const paymentOf = (order: OrderSnapshot) => ({
  original_order_id: order.id,
  original_transaction_id: order.transactions[0]!.id,
});

const ASKED_BY: Record<FollowUpKind, RequestedBy> = {
  capture: 'merchant',
  void: 'merchant',
  refund: 'merchant',
  chargeback: 'processor',
  reversal: 'processor',
};

export function aFollowUp(
  payment: OrderSnapshot,
  request: Partial<NewFollowUp> & Pick<FollowUpRequest, 'kind'>,
): NewFollowUp {
  const id = request.id ?? uuidv7();
  return {
    ...paymentOf(payment),
    id,
    transaction_id: transactionId(id, 1),
    requested_by: ASKED_BY[request.kind],
    now: NOW,
    ...request,
  };
}

/** What the processor answered; `processing`: nothing yet. */
export type ProcessorAnswer = 'approved' | 'refused' | 'processing';
const MOVES = { approved: 'accepted', refused: 'error', processing: 'processing' } as const;

/**
 * Writes what became of a follow-up order, as its workflow does. `asked`: the order as it was when it was asked for.
 */
export async function answerFollowUp(
  db: Database,
  follow_up: NewFollowUp,
  asked: OrderSnapshot,
  answer: ProcessorAnswer,
  now = NOW,
): Promise<OrderSnapshot> {
  const result = answer === 'approved' ? ('approved' as const) : ('failed' as const);
  const details =
    answer === 'processing' ? { source: 'service' as const, now } : { source: 'processor' as const, now, result };
  return await recordFollowUpOutcome(db, asked, { ...follow_up, amount: asked.amount }, MOVES[answer], details);
}

/** Every row of a payment and of what follows it: what a repeat or a refusal must leave as it is. */
export async function everythingOf(db: Database, { id: order_id }: OrderSnapshot): Promise<unknown> {
  return await queryRows(
    db,
    `with o as (select * from orders where :order_id in (id, related_order_id)), t as (select t.* from transactions t join o on o.id = t.order_id)
     select (select json_agg(o order by id) from o) as orders, (select json_agg(t order by id) from t) as transactions,
       (select json_agg(e order by e.id) from transaction_events e join t on t.id = e.transaction_id) as events,
       (select json_agg(d order by d.order_id, d.n) from webhook_deliveries d join o on o.id = d.order_id) as deliveries`,
    { order_id },
  );
}

/** A webhook in the record that no workflow delivers. */
export async function aDelivery(
  db: Database,
  project_id: string = PROJECT.id,
  webhook_url = 'https://shop.example/hook',
  now = NOW,
): Promise<{ order_id: string; n: number }> {
  const order = await aStoredOrder(db, { project_id, webhook_url });
  await moveOrder(db, order, { ended: 'cancelled' }, { source: 'merchant', now });
  return { order_id: order.id, n: 1 };
}

/** A recovery of the test project's webhooks of the hour after NOW, in the record alone; its id. */
export async function aWebhookRecovery(db: Database): Promise<string> {
  const [since, until] = [toIsoTime(NOW - MINUTE), toIsoTime(NOW + 60 * MINUTE)];
  const recovery = { id: uuidv7(), project_id: PROJECT.id, since, until, request_id: uuidv7() };
  await db.transaction((trx) => insertWebhookRecovery(trx, recovery, new Date()));
  return recovery.id;
}

/** A webhook in the record that has failed. */
export async function aFailedDelivery(
  db: Database,
  webhook_url?: string,
  { project_id = PROJECT.id, now = NOW } = {},
): Promise<DeliveryKey> {
  const id = await aDelivery(db, project_id, webhook_url, now);
  const attempt = { attempt: 1, time_limit_ms: 4_000, started: NOW, duration_ms: 10, failure: 'answered 500' };
  await recordAttempt(db, id, attempt, { status: 'failed' });
  return id;
}

/** Pauses a webhook that is due at NOW, in the record alone. */
export async function pauseDelivery(db: Database, delivery: DeliveryKey): Promise<void> {
  await db.transaction((trx) => updateDelivery(trx, delivery, { status: 'paused', next_attempt_at: NOW }));
}

/** Orders that are written straight to Postgres, where making them would take minutes. */

type Columns = Record<string, unknown>;

/** An order by its columns; what is absent is that of a plain order of one transaction. */
export interface WrittenOrder extends Columns {
  kind?: OrderKind;
  transactions?: (Columns & { declined?: boolean })[];
}

const COLUMNS = {
  orders:
    'id, clock_id, project_id, kind, related_order_id, requested_by, merchant_order_id, description, currency, amount, status, ended, ended_by, attempts_max, charged_by, expiration_period, expires_at, customer, order_lines, version, created, modified, completed',
  transactions:
    'id, order_id, attempt, original_transaction_id, amount, currency, payment_method, payment_method_brand, payment_method_details, method_chosen_by, credit_debit, transaction_type, capture_mode, capture_period, capture_ends_at, status, captured_amount, voided_amount, refunded_amount, charged_back_amount, won_back_amount, capture_pending_amount, void_pending_amount, refund_pending_amount, response_code, settlement_currency, settlement_amount, fee_currency, fee_amount, created, modified',
  transaction_events:
    'transaction_id, n, id, event, source, result, authorization_iso_response_code, occurred, noticed',
};

/** Writes the orders, and returns their ids. A follow-up order comes after its original, which it names. */
export async function writeOrders(db: Database, orders: readonly WrittenOrder[]): Promise<string[]> {
  const [of_orders, of_transactions, of_events]: [Columns[], Columns[], Columns[]] = [[], [], []];
  for (const { transactions = [{}], ...fields } of orders) {
    const order = orderRow(fields);
    of_orders.push(order);
    for (const [index, { declined = false, ...columns }] of transactions.entries()) {
      const transaction = transactionRow(order, index + 1, columns);
      of_transactions.push(transaction);
      of_events.push(eventRow(transaction, declined));
    }
  }
  await db.transaction(async (trx) => {
    for (const [table, of] of Object.entries({
      orders: of_orders,
      transactions: of_transactions,
      transaction_events: of_events,
    })) {
      const columns = COLUMNS[table as keyof typeof COLUMNS];
      await queryRows(
        trx,
        `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, :of::json)`,
        { of: JSON.stringify(of) },
      );
    }
  });
  return of_orders.map(({ id }) => String(id));
}

function orderRow(fields: Columns): Columns & { id: string } {
  const { kind = 'payment', status = 'completed', created = '2026-01-15T12:00:00.123456Z' } = fields;
  const id = uuidv7();
  return {
    id,
    clock_id: fields['related_order_id'] ?? fields['id'] ?? id,
    ended_by: fields['ended'] === undefined ? null : 'service',
    project_id: PROJECT.id,
    kind,
    currency: 'EUR',
    amount: 1_250,
    status,
    created,
    modified: created,
    completed: status === 'completed' ? created : null,
    attempts_max: 5,
    version: 0,
    ...(kind === 'payment'
      ? { charged_by: 'customer', expiration_period: 'PT30M', expires_at: '2026-01-15T12:30:00Z' }
      : { requested_by: 'merchant' }),
    ...fields,
  } as Columns & { id: string };
}

function transactionRow(order: Columns & { id: string }, attempt: number, columns: Columns): Columns & { id: string } {
  const kind = order['kind'] as OrderKind;
  const is_payment = kind === 'payment';
  return {
    id: transactionIdOf(order.id, attempt),
    order_id: order.id,
    attempt,
    amount: order['amount'],
    currency: order['currency'],
    payment_method: 'credit-card',
    status: 'accepted',
    created: order['created'],
    modified: order['modified'],
    ...NO_AMOUNTS,
    ...(is_payment
      ? { method_chosen_by: 'customer', credit_debit: 'credit' }
      : {
          original_transaction_id: transactionIdOf(String(order['related_order_id']), 1),
          transaction_type: kind,
          credit_debit: creditDebitOf({ kind: kind as FollowUpKind, requested_by: 'merchant' }),
        }),
    ...columns,
  } as Columns & { id: string };
}

function eventRow(transaction: Columns & { id: string }, declined: boolean): Columns {
  return {
    transaction_id: transaction.id,
    n: 1,
    id: uuidv7(),
    event: transaction['status'],
    source: 'processor',
    ...(declined && { result: 'declined', authorization_iso_response_code: '05' }),
    occurred: transaction['created'],
    noticed: transaction['created'],
  };
}
