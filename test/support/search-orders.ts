import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import { queryRows, type Database } from '../../src/db/connection';
import { creditDebitOf, type FollowUpKind, type OrderKind } from '../../src/domain/follow-up';
import { PROJECT } from './database';

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

const NO_AMOUNTS = {
  captured_amount: 0,
  voided_amount: 0,
  refunded_amount: 0,
  charged_back_amount: 0,
  won_back_amount: 0,
  capture_pending_amount: 0,
  void_pending_amount: 0,
  refund_pending_amount: 0,
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

/** The first transaction's id of an order, for the follow-up orders of it. */
const firstTransactionOf = (order_id: string) => uuidv5('transaction:1', order_id);

function transactionRow(order: Columns & { id: string }, attempt: number, columns: Columns): Columns & { id: string } {
  const kind = order['kind'] as OrderKind;
  const is_payment = kind === 'payment';
  return {
    id: uuidv5(`transaction:${attempt}`, order.id),
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
          original_transaction_id: firstTransactionOf(String(order['related_order_id'])),
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

const POOLS = {
  merchant_order_id: [
    ...[
      'A-1001',
      'a-1001',
      'A-1002',
      'A 1001',
      ' A-1001',
      'Ä-1',
      'A\u0308-1',
      '①②',
      '12',
      'ＡＢＣ',
      'abc',
      'order:1',
      '',
    ],
    ...['say "hi"', 'back\\slash', 'star*', 'OR', 'café', 'cafe', 'x'.repeat(255), '語'.repeat(255), '語'.repeat(254)],
  ],
  description: ['Two books', 'two BOOKS, blue', 'Bücher & Karten', 'नमस्ते दुनिया', 'e-mail me', 'booking', ''],
  last_name: ["O'Brien", 'Öztürk', 'Smith', 'smith', '王', 'de la Cruz'],
  country: ['NL', 'DE', 'US'],
  email_address: ['a@b.example', 'A@B.example', 'smith@shop.example'],
  currency: ['EUR', 'EUR', 'JPY', 'KWD', 'USD'],
  amount: [0, 1, 99, 1_250, 1_250, 9_007_199_254_740_991],
  status: ['new', 'processing', 'completed', 'completed', 'cancelled', 'expired', 'error', 'see-transactions'],
  transaction: ['new', 'pending', 'accepted', 'accepted', 'error', 'declined', 'cancelled', 'expired'],
  day: [1, 14, 15, 15, 16, 31],
  time: ['00:00:00.000000', '11:59:59.999999', '12:00:00.000000', '12:00:00.123456', '23:59:59.999999'],
};

/**
 * Very different orders, the same for the same seed: payments and follow-up orders of them, with none to three
 * transactions.
 */
export function someOrders(count: number, seed: number): WrittenOrder[] {
  const random = generator(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const maybe = <T>(values: readonly T[]): T | undefined => (random() < 0.7 ? pick(values) : undefined);
  const instant = () => `2026-01-${String(pick(POOLS.day)).padStart(2, '0')}T${pick(POOLS.time)}Z`;
  const settled = (currency: string) =>
    random() < 0.3
      ? { settlement_currency: currency, settlement_amount: 1_230, fee_currency: currency, fee_amount: 20 }
      : {};
  const transaction = (currency: string): WrittenOrder['transactions'] & {} => {
    const status = pick(POOLS.transaction);
    const capture_mode = maybe(['manual', 'delayed', undefined, undefined]);
    return [
      {
        status: status === 'declined' ? 'error' : status,
        declined: status === 'declined',
        payment_method: pick(['credit-card', 'apple-pay']),
        payment_method_brand: maybe(['visa', 'mastercard']),
        payment_method_details: maybe([
          { truncated_pan: '411111******1111', card_expiry: '122034' },
          { truncated_pan: '554433******0037', card_expiry: '012027' },
        ]),
        ...(capture_mode && {
          capture_mode,
          transaction_type: pick(['authorization', 'aft']),
          capture_period: 'P5D',
          capture_ends_at: instant(),
        }),
        response_code: status === 'declined' ? pick(['05', '51']) : status === 'accepted' ? '00' : undefined,
        ...settled(currency),
      },
    ];
  };
  const payments: (WrittenOrder & { id: string })[] = [];
  const orders: WrittenOrder[] = [];
  while (orders.length < count) {
    const original = payments.length > 5 && random() < 0.2 ? pick(payments) : undefined;
    const id = uuidv5(`${seed} ${orders.length}`, PROJECT.id);
    const created = instant();
    if (original !== undefined) {
      const kind = pick(['capture', 'void', 'refund', 'chargeback', 'reversal'] as const);
      const { currency, amount } = original;
      const status = pick(['new', 'completed', 'completed', 'error']);
      orders.push({ id, kind, related_order_id: original.id, currency, amount, created, status });
      continue;
    }
    const currency = pick(POOLS.currency);
    const customer = {
      merchant_customer_id: maybe(['c-1', 'C-2', '']),
      first_name: maybe(['Anna', 'Zoë']),
      last_name: maybe(POOLS.last_name),
      email_address: maybe(POOLS.email_address),
      country: maybe(POOLS.country),
      locale: maybe(['nl_NL', 'de_DE']),
    };
    const payment = {
      id,
      created,
      currency,
      merchant_order_id: maybe(POOLS.merchant_order_id),
      description: maybe(POOLS.description),
      amount: pick(POOLS.amount),
      status: pick(POOLS.status),
      modified: instant(),
      customer: maybe([customer]),
      transactions: Array.from({ length: pick([0, 1, 1, 1, 2, 3]) }, () => transaction(currency)).flat(),
    };
    // A follow-up order needs a transaction of its original.
    if (payment.transactions.length > 0) payments.push(payment);
    orders.push(payment);
  }
  return orders;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
