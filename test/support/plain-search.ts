import { presentOrder } from '../../api/present/order';
import { listOrderViews, type OrderView } from '../../src/db/orders/order-view';
import type { Database } from '../../src/db/connection';
import type { Condition, Query } from '../../src/domain/query/query';
import { PROJECT } from './database';

/** An order as the second way to search looks at it. */
export interface PlainOrder {
  id: string;
  rows: Json[];
}

/** All orders of the test project, as GET shows them. */
export async function plainOrders(db: Database): Promise<PlainOrder[]> {
  const { rows: views } = await listOrderViews(db, PROJECT.id, {
    period: { since: 0, until: Date.UTC(2100, 0) },
    after: undefined,
    limits: { rows: 1_000_000, bytes: 1e9 },
  });
  return views.map((view) => ({ id: view.id, rows: rowsOf(view) }));
}

/** The second way to find orders: looks at each. It shares nothing with the service but the tree of the query. */
export function plainSearch(orders: readonly PlainOrder[], query: Query): string[] {
  return orders.filter(({ rows }) => rows.some((row) => meets(query, row))).map(({ id }) => id);
}

/** Main units of one minor unit. */
const MINOR: Record<string, number> = { EUR: 100, USD: 100, JPY: 1, KWD: 1_000 };

type Json = Record<string, unknown>;

/** The order with each of its transactions, or alone. */
function rowsOf(view: OrderView): Json[] {
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

function meets(query: Query, row: Json): boolean {
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
