import { setTimeout as sleep } from 'node:timers/promises';
import type { Index, SearchParams } from 'meilisearch';
import { ATTEMPTS_MAX } from '../domain/order';
import { isOfTransaction, type Sort, type SortField } from '../domain/query/fields';
import { conditionsOf, type SearchQuery } from '../domain/query/query';
import { SEARCH_PACE, type IndexDelay } from '../domain/search-pace';
import { ServiceError } from '../errors';
import type { Logger } from '../log';
import { connectSearch, isRefusal, onceMore, reasonOf, type SearchServer } from './connection';
import type { PageEnd } from './cursor';
import { attemptOf, orderIdOf, type Document } from './documents';
import { filterOf } from './filter';
import { RowNumbers } from './row-numbers';
import { CUTOFF_MS, INDEX } from './settings';

/** A query in one project. */
export interface Wanted {
  project_id: string;
  query: SearchQuery;
  sort: Sort;
}

/** Orders as the index has them: the caller reads them from the record and compares them with the query again. */
export interface FoundOrders {
  order_ids: string[];
  /** Where a page begins that follows the order of the same position. */
  places: PageEnd[];
  /** Orders that meet the query, on all pages. */
  hits: number;
  /** Whether `hits` counts transactions: the orders are so many at most. */
  is_estimate: boolean;
  /** Where the next page begins; absent on the last one. */
  next?: PageEnd;
}

/** One row of the report. */
export interface FoundRow {
  order_id: string;
  attempt: number;
}

/** Runs a search when it is the project's turn. Throws ServiceUnavailable after `limit_ms` milliseconds. */
export type InTurn = <T>(
  search: () => Promise<T>,
  /** `has_begun`: the answer has; its search waits also when as many wait as are allowed. */
  turn: { limit_ms: number; has_begun?: boolean },
) => Promise<T>;

/**
 * Milliseconds until a merchant gets 503 when the search does not answer; the rules allow three seconds (rules 20.11).
 */
export const SEARCH_MS = 2_700;
/** Milliseconds until a search is abandoned because the server or its network is down. */
const GIVEN_UP_MS = 30_000;
/** A page of a report may wait for the server, which indexes at the same time. Milliseconds. */
const REPORT_MS = 20_000;
/** An index that is further behind makes no report, as rows would be missing. Milliseconds. */
const BEHIND_MAX_MS = 60_000;
/** How long before it is noted a change may have been made, by the clock of its machine. Milliseconds. */
const NOTED_MS = 5 * 60_000;
/** Rows of a report's first page. */
const FIRST_PAGE = 1_000;
/**
 * Up to so many rows the orders are counted, 5 ms for each thousand; above, the number of rows is the answer. More rows
 * are of more than 10,000 orders.
 */
const COUNTED_ROWS_MAX = 10_000 * ATTEMPTS_MAX;

/** How many rows of a report are asked for, and how long that may take. */
type Page = { limit: number } & Parameters<InTurn>[1];

type Found = Pick<Document, 'pk' | 'order_sequence' | 'row_sequence'> & { [field: string]: unknown };

/**
 * Answers searches from the index. Methods throw ServiceUnavailable when it does not answer in time, or is not there
 * yet.
 */
export class SearchReader {
  private readonly index: Index<Found>;
  /** The next search is noted after this time. */
  private noted_until = 0;

  /** `noteSearch` records the time of the search, and returns how far the index is behind. */
  constructor(
    server: SearchServer,
    private readonly noteSearch: () => Promise<IndexDelay>,
    private readonly log: Logger,
  ) {
    this.index = connectSearch(server, 'read').index<Found>(INDEX);
  }

  /** A page of orders, from a position or after a place. Resolves when the server has finished. */
  async orders(
    wanted: Wanted,
    page: { size: number; start: number } | { size: number; after: PageEnd },
  ): Promise<FoundOrders> {
    const { project_id, query, sort } = wanted;
    const byTransaction = concernsTransactions(query);
    // Where no transaction matters an order is found by its first row alone, and counting rows counts orders.
    const lead = byTransaction ? [] : ['lead = true'];
    const place = 'after' in page ? [after(sort, 'order_sequence', page.after)] : [];
    if (performance.now() >= this.noted_until) await this.untilCurrent();
    const search = (options: SearchParams) => this.ask(options);
    const asked = [
      search({
        filter: filterOf(project_id, query, ...lead, ...place),
        sort: [`${sort.field}:${sort.direction}`, `order_sequence:${sort.direction}`],
        limit: page.size + 1,
        offset: 'start' in page ? page.start : 0,
        attributesToRetrieve: ['pk', 'order_sequence', sort.field],
        ...(byTransaction && { distinct: 'id' }),
      }),
      byTransaction || 'after' in page
        ? countOrders(search, filterOf(project_id, query, ...lead), byTransaction)
        : Promise.resolve(undefined),
    ] as const;
    // The caller's turn lasts until the server has ended both, also when one fails.
    await Promise.allSettled(asked);
    const [{ hits: rows, estimatedTotalHits }, total] = await Promise.all(asked);
    const of_page = rows.slice(0, page.size);
    const places = of_page.map((row) => ({ value: numberOf(row[sort.field]), order_sequence: row.order_sequence }));
    const next = rows.length > page.size ? places.at(-1) : undefined;
    return {
      order_ids: of_page.map(orderIdOf),
      places,
      ...(total ?? { hits: estimatedTotalHits ?? 0, is_estimate: false }),
      ...(next && { next }),
    };
  }

  /**
   * The rows of a report, page by page, each of `size` at most, the first of FIRST_PAGE. Rows without the sort value
   * come last; after them, those that have moved to a place that was read already. Each page waits for the project's
   * turn. Throws ServiceUnavailable also when the index is behind by more than BEHIND_MAX_MS.
   */
  async *rows(wanted: Wanted, size: number, inTurn: InTurn): AsyncGenerator<FoundRow[]> {
    const began = performance.now();
    const { oldest_ms } = await this.untilCurrent();
    if (oldest_ms > BEHIND_MAX_MS) {
      throw new ServiceError('ServiceUnavailable', 'The search index is behind: rows would be missing in the report.');
    }
    const changed_since = Date.now() - oldest_ms - NOTED_MS;
    // The first page is small, so that the report begins soon, and an unreachable server is an error at once. A later
    // one may take long.
    const first = { limit: Math.min(size, FIRST_PAGE), limit_ms: SEARCH_MS - (performance.now() - began) };
    const later = { limit: size, limit_ms: REPORT_MS, has_begun: true };
    const passes = [this.pages(wanted, [], { first, later, inTurn })];
    if (!isFixed(wanted.sort.field)) {
      const by_change = { ...wanted, sort: { field: 'modified', direction: 'asc' } } as const;
      passes.push(this.pages(by_change, [`modified >= ${changed_since}`], { first: later, later, inTurn }));
    }
    const read = passes.length > 1 ? new RowNumbers() : undefined;
    for (const pages of passes) {
      for await (const page of pages) {
        const rows = read === undefined ? page : page.filter(({ row_sequence }) => read.add(row_sequence));
        if (rows.length > 0) yield rows.map((row) => ({ order_id: orderIdOf(row), attempt: attemptOf(row) }));
      }
    }
  }

  private async *pages(
    { project_id, query, sort }: Wanted,
    conditions: readonly string[],
    { first, later, inTurn }: { first: Page; later: Page; inTurn: InTurn },
  ): AsyncGenerator<Found[]> {
    let place: string[] = [];
    for (let page = first; ; page = later) {
      const { limit, ...turn } = page;
      const options = {
        filter: filterOf(project_id, query, ...conditions, ...place),
        sort: [`${sort.field}:${sort.direction}`, `row_sequence:${sort.direction}`],
        limit,
        attributesToRetrieve: ['pk', 'row_sequence', sort.field],
      };
      const { hits } = await inTurn(() => this.ask(options), turn);
      yield hits;
      if (hits.length < limit) return;
      const last = hits.at(-1)!;
      place = [after(sort, 'row_sequence', { value: numberOf(last[sort.field]), order_sequence: last.row_sequence })];
    }
  }

  /** Without recent searches, changes are batched: the first search waits until the index has them (rules 20.12). */
  private async untilCurrent(): Promise<IndexDelay> {
    let delay = await this.noteSearch();
    for (; delay.is_behind; delay = await this.noteSearch()) await sleep(SEARCH_PACE.first_searches_ask_ms);
    this.noted_until = performance.now() + SEARCH_PACE.noted_every_ms;
    return delay;
  }

  /**
   * Searches once. Meilisearch does not stop abandoned searches, so this resolves when the server has finished; the
   * caller decides how long it waits. Throws ServiceUnavailable also when the answer was cut off.
   */
  private async ask<Options extends SearchParams>(options: Options) {
    const signal = AbortSignal.timeout(GIVEN_UP_MS);
    try {
      const answer = await onceMore(() => this.index.search('', options, { signal }));
      if (answer.processingTimeMs >= CUTOFF_MS) throw new Error('the search took too long');
      return answer;
    } catch (error) {
      this.log[isRefusal(error) ? 'error' : 'warn']({ reason: reasonOf(error) }, 'the search index does not answer');
      if (isRefusal(error)) throw new Error('the search index refused a filter', { cause: reasonOf(error) });
      throw searchUnavailable();
    }
  }
}

/** The error of a search that has no answer in time. */
export function searchUnavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'Orders cannot be searched at this moment.');
}

type Search = (options: SearchParams) => Promise<{ estimatedTotalHits?: number; totalHits?: number }>;

/** Counts orders: exactly while their rows are few, else the rows. */
async function countOrders(
  search: Search,
  filter: string[],
  byTransaction: boolean,
): Promise<Pick<FoundOrders, 'hits' | 'is_estimate'>> {
  const { estimatedTotalHits: rows = 0 } = await search({ filter, limit: 0 });
  if (!byTransaction) return { hits: rows, is_estimate: false };
  if (rows > COUNTED_ROWS_MAX) return { hits: rows, is_estimate: true };
  const { totalHits = 0 } = await search({
    filter,
    distinct: 'id',
    hitsPerPage: 1,
    page: 1,
    attributesToRetrieve: ['pk'],
  });
  return { hits: totalHits, is_estimate: false };
}

/** Whether a query has transaction fields, so that one transaction of the order must match it. */
function concernsTransactions(query: SearchQuery): boolean {
  return conditionsOf(query).some(({ field }) => isOfTransaction(field));
}

/** Whether the value of an order or transaction never changes: a row then keeps its place while a report is read. */
const isFixed = (field: SortField) => field === 'created' || field === 'amount';

const isAlwaysThere = (field: SortField) => field === 'created' || field === 'modified' || field === 'amount';

const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

/** Filters the rows after a place in the order of the sort; rows without a value come last. */
function after({ field, direction }: Sort, number: 'order_sequence' | 'row_sequence', place: PageEnd): string {
  const sign = direction === 'asc' ? '>' : '<';
  const later = `${number} ${sign} ${place.order_sequence}`;
  if (place.value === null) return `${field} NOT EXISTS AND ${later}`;
  const absent = isAlwaysThere(field) ? '' : ` OR ${field} NOT EXISTS`;
  return `${field} ${sign} ${place.value} OR (${field} = ${place.value} AND ${later})${absent}`;
}
