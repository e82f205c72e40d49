import { v5 as uuidv5 } from 'uuid';
import { presentOrder } from '../../api/present/order';
import type { Database } from '../../src/db/query';
import { listStoredOrders, type StoredOrder } from '../../src/db/orders/stored-order';
import type { Condition, SearchQuery } from '../../src/domain/query/query';
import { PROJECT } from './domain';
import { numbersFrom } from '../../proofs/support/random';
import type { WrittenOrder } from './rows';

const POOLS = {
  merchant_order_id: [
    ...'A-1001|a-1001|A-1002|A 1001| A-1001|Ä-1|A\u0308-1|①②|12|ＡＢＣ|abc|order:1||say "hi"|back\\slash|star*'.split(
      '|',
    ),
    ...['OR', 'café', 'cafe', 'x'.repeat(255), '語'.repeat(255), '語'.repeat(254)],
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
  const random = numbersFrom(seed);
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

/** An order as the second way to search looks at it. */
export interface PlainOrder {
  id: string;
  rows: Json[];
}

/** All orders of the test project, as GET shows them. */
export async function plainOrders(db: Database): Promise<PlainOrder[]> {
  const { rows: views } = await listStoredOrders(db, PROJECT.id, {
    period: { since: 0, until: Date.UTC(2100, 0) },
    after: undefined,
    limits: { rows: 1_000_000, bytes: 1e9 },
  });
  return views.map((view) => ({ id: view.id, rows: rowsOf(view) }));
}

/** The second way to find orders: looks at each. It shares nothing with the service but the tree of the query. */
export function plainSearch(orders: readonly PlainOrder[], query: SearchQuery): string[] {
  return orders.filter(({ rows }) => rows.some((row) => meets(query, row))).map(({ id }) => id);
}

/** Main units of one minor unit. */
const MINOR: Record<string, number> = { EUR: 100, USD: 100, JPY: 1, KWD: 1_000 };

type Json = Record<string, unknown>;

/** The order with each of its transactions, or alone. */
function rowsOf(view: StoredOrder): Json[] {
  const { transactions = [], ...order } = presentOrder(view, '') as unknown as Json & { transactions?: Json[] };
  const { customer = {} } = order as { customer?: Json };
  const words = [
    order['merchant_order_id'],
    ...['merchant_customer_id', 'first_name', 'last_name', 'email_address'].map((name) => customer[name]),
    order['description'],
  ];
  const common = {
    ...order,
    kind: view.kind,
    words: words
      .flatMap((text) => folded(textOf(text)).split(/[^\p{L}\p{N}\p{M}]+/u))
      .filter(Boolean)
      .slice(0, 40),
  };
  if (transactions.length === 0) return [common];
  return transactions.map((transaction) => {
    const minor = MINOR[String(transaction['currency'])]!;
    const inMain = (name: string) =>
      transaction[name] === undefined ? undefined : Number((Number(transaction[name]) / minor).toFixed(3));
    const declined = (transaction['events'] as { result?: string }[]).some(({ result }) => result === 'declined');
    return {
      ...common,
      transaction: {
        ...transaction,
        status: transaction['status'] === 'error' && declined ? ['error', 'declined'] : transaction['status'],
        amount_with_decimals: inMain('amount'),
        settlement_amount: inMain('settlement_amount'),
        fee_amount: inMain('fee_amount'),
      },
    };
  });
}

/** As Unicode and people compare texts; a sigma is a sigma wherever it stands. */
const folded = (text: string) => text.normalize('NFKC').toLowerCase().normalize('NFKC').replace(/ς/g, 'σ');

function meets(query: SearchQuery, row: Json): boolean {
  switch (query.op) {
    case 'all':
      return true;
    case 'not':
      return !meets(query.of, row);
    case 'and':
    case 'or': {
      const met = query.of.filter((one) => meets(one, row)).length;
      return query.op === 'and' ? met === query.of.length : met > 0;
    }
    default:
      return isMet(query, valuesOf(query, row));
  }
}

function isMet(condition: Condition, values: readonly (string | number)[]): boolean {
  if (condition.op === 'absent') return values.length === 0;
  if (condition.op === 'equals') return values.some((value) => value === condition.value);
  if (condition.op === 'prefix') return values.some((value) => String(value).indexOf(condition.value) === 0);
  const { from, to } = condition;
  return values.some(
    (value) =>
      typeof value === 'number' &&
      (from === undefined || value > from.value || (from.inclusive && value === from.value)) &&
      (to === undefined || value < to.value || (to.inclusive && value === to.value)),
  );
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function valuesOf({ field }: Condition, row: Json): (string | number)[] {
  const found = field.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], row);
  return [found ?? []].flat().map((value) => {
    if (typeof value === 'number') return value;
    const text = textOf(value);
    const isTime = ['created', 'modified', 'completed', 'expires_at'].includes(field);
    return isTime ? Date.parse(text.replace(/(\.\d{3})\d+/, '$1')) : folded(text);
  });
}
