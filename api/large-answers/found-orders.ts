import type { Order } from '../../src/contract/order';
import { SEARCH_BYTES_MAX, type SearchResult } from '../../src/contract/search';
import type { Database } from '../../src/db/query';
import { firstStoredOrders } from '../../src/db/orders/stored-order';
import { reportRows } from '../../src/db/search/report-rows';
import { conditionsOf, matches } from '../../src/domain/query/query';
import { rowOf } from '../../src/domain/query/report';
import type { Wanted } from '../../src/search/reader';
import { partLimits } from './bulk-reads';
import type { MerchantServices } from '../merchant';
import { presentOrder } from '../present/order';

/** Orders that a search found, from the record. */
export interface FoundPart {
  /** The presented orders, with their positions in the results. */
  orders: { order: Order; position: number }[];
  /** How many were found that do not meet the query any more. */
  left_out: number;
  is_last: boolean;
}

/** The fields of an answer beside its orders. */
type Rest = Omit<SearchResult, 'orders'>;

/**
 * The orders as the record has them now, in the order of the ids, a part at a time; only those of the project that meet
 * the query. `signal`: that of the request, for the part that is read before the answer begins.
 */
export async function* foundOrders(
  { bulk, public_url }: Pick<MerchantServices, 'bulk' | 'public_url'>,
  { project_id, query }: Wanted,
  order_ids: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<FoundPart, undefined> {
  const subjects = [...new Set(conditionsOf(query).map(({ field }) => field))];
  let limits = partLimits();
  for (let begin = 0; begin < order_ids.length;) {
    const ids = order_ids.slice(begin, begin + limits.rows);
    const readPart = async (db: Database) => {
      const part = await firstStoredOrders(db, project_id, ids, limits);
      const read_ids = part.rows.map(({ id }) => id);
      return { part, rows: subjects.length === 0 ? [] : await reportRows(db, read_ids, subjects) };
    };
    const { part, rows } = await bulk.read(project_id, readPart, begin === 0 ? signal : undefined);
    const meeting = new Set(rows.flatMap((row) => (matches(query, rowOf(row, subjects)) ? [row.order_id] : [])));
    const views = part.rows.filter(({ id }) => subjects.length === 0 || meeting.has(id));
    const orders = views.map((view) => ({
      order: presentOrder(view, public_url),
      position: begin + ids.indexOf(view.id),
    }));
    const examined = part.is_last ? ids.length : ids.indexOf(part.rows.at(-1)!.id) + 1;
    begin += examined;
    limits = partLimits({ asked: ids.length, came: part.rows.length });
    yield { orders, left_out: examined - orders.length, is_last: begin >= order_ids.length };
  }
}

/**
 * An answer whose orders are more than one part, as the text of its JSON: it ends before the order that would make it
 * larger than a search answer may be (rules 20.21). `restOf` makes the rest of it, of the orders left out and, where
 * the answer was cut, the position of its last order.
 */
export async function* searchAnswer(
  first: FoundPart,
  further: AsyncGenerator<FoundPart, undefined>,
  restOf: (left_out: number, cut_after?: number) => Rest,
): AsyncGenerator<string> {
  let left_out = 0;
  let bytes = 0;
  let last: number | undefined;
  let separator = '{"orders":[';
  async function* parts() {
    yield first;
    yield* further;
  }
  for await (const { orders, left_out: of_part } of parts()) {
    const texts: string[] = [];
    let is_cut = false;
    for (const { order, position } of orders) {
      const text = JSON.stringify(order);
      bytes += Buffer.byteLength(text);
      is_cut = last !== undefined && bytes > SEARCH_BYTES_MAX;
      if (is_cut) break;
      texts.push(text);
      last = position;
    }
    if (texts.length > 0) {
      yield separator + texts.join(',');
      separator = ',';
    }
    if (is_cut) return yield endOf(restOf(left_out, last));
    left_out += of_part;
  }
  yield (last === undefined ? separator : '') + endOf(restOf(left_out));
}

const endOf = (rest: Rest) => `],${JSON.stringify(rest).slice(1)}`;
