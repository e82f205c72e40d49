import { SEARCH_REACH, SEARCH_SIZE, type SearchRequest } from '../../src/contract/search';
import type { Database } from '../../src/db/query';
import { SORT_FIELDS, parseSort } from '../../src/domain/query/fields';
import { parseQuery } from '../../src/domain/query/parse';
import { validationError } from '../../src/errors';
import { searchCursorOf, placeOf, type PageEnd } from '../../src/search/cursor';
import { SEARCH_MS, searchUnavailable, type InTurn, type Wanted } from '../../src/search/reader';
import { ConcurrencyLimit } from '../http/concurrency-limit';
import { unlessAborted } from '../http/unless-aborted';
import { foundOrders, searchAnswer } from '../large-answers/found-orders';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { Stream } from '../operation';
import { reportCsv } from '../large-answers/report';
import { reportFileName } from '../large-answers/report-cells';

/** The `search_after` of a first request. */
const FIRST = '-1';
/**
 * Concurrent searches: a project's next search waits until the index has finished the one before (rules 20.25). A
 * merchant has a hundred projects at most (rules 21.24), which together do not take all places.
 */
const SEARCHES = { what: 'searches', per_caller: { running: 1, waiting: 30 }, running: 150 };

/**
 * A page of the orders that meet a query, or the report of all of them. The index finds them and the record has their
 * content, so an order that has changed and no longer matches the query is left out. Throws a ValidationError that
 * names the field, and ServiceUnavailable without the index.
 */
export const searchOrders = (
  services: Pick<MerchantServices, 'bulk' | 'search' | 'public_url'>,
): MerchantOperation<'searchOrders'> => {
  const { bulk, search } = services;
  const searches = new ConcurrencyLimit(SEARCHES);
  return async ({ caller: { project }, signal }, { query: { format }, body }) => {
    const wanted = wantedBy(project.id, body);
    const inTurn = turnsOf(searches, project.id);
    if (format === 'csv') {
      refusePaging(body);
      const name = reportFileName(project.name, Date.now());
      const chunks = (signal: AbortSignal) => {
        const readRecord = <T>(work: (db: Database) => Promise<T>) => bulk.read(project.id, work, signal);
        return reportCsv({ search, readRecord }, wanted, inTurn);
      };
      return new Stream('text/csv; charset=utf-8', chunks, bulk.report(project.id), name);
    }
    const { size = SEARCH_SIZE.default } = body;
    const { field, direction } = wanted.sort;
    const sequence = { project_id: project.id, query: body.query, sort: `${field} ${direction}`, size };
    const page = pageOf(body, size, (cursor) => placeOf(cursor, sequence));
    const found = await inTurn(() => search.orders(wanted, page), { limit_ms: SEARCH_MS });
    const parts = foundOrders(services, wanted, found.order_ids, signal);
    const { value: first } = await parts.next();
    const restOf = (left_out: number, cut_after?: number) => {
      const next = cut_after === undefined ? found.next : found.places[cut_after];
      return {
        hits: Math.max(found.hits - left_out, 0),
        ...(found.is_estimate && { hits_is_estimate: true as const }),
        ...(cut_after !== undefined && { is_truncated: true as const }),
        ...(next && { sort: searchCursorOf(sequence, next) }),
      };
    };
    if (first === undefined || first.is_last) {
      return { ...restOf(first?.left_out ?? 0), orders: first?.orders.map(({ order }) => order) ?? [] };
    }
    return new Stream('application/json', () => searchAnswer(first, parts, restOf), bulk.stream(project.id));
  };
};

/**
 * Runs searches when it is the project's turn. After `limit_ms` the request stops waiting: a search that has not begun
 * is dropped, and one that has begun keeps its place until the index has finished it.
 */
const turnsOf =
  (searches: ConcurrencyLimit, project_id: string): InTurn =>
  async (search, { limit_ms, has_begun = false }) => {
    const wait = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const limit = () => (timer = setTimeout(() => wait.abort(searchUnavailable()), limit_ms));
    // Those before it stop waiting by themselves: an answer that has begun must not end because of them.
    if (!has_begun) limit();
    const found = searches.acquire(project_id, wait.signal, has_begun ? Infinity : undefined).then((release) => {
      if (has_begun) limit();
      return search().finally(release);
    });
    return await unlessAborted(found, wait.signal).finally(() => clearTimeout(timer));
  };

/** A report has all rows. */
function refusePaging(body: SearchRequest): void {
  const sent = (['size', 'start', 'search_after'] as const).find((name) => body[name] !== undefined);
  if (sent !== undefined) throw validationError(sent, 'The report has every row: it is not sent with format=csv.');
}

/** The search of a request. */
function wantedBy(project_id: string, { query: text, sort: sort_text = 'created desc' }: SearchRequest): Wanted {
  const parsed = parseQuery(text);
  if ('problem' in parsed) throw validationError('query', parsed.problem);
  const sort = parseSort(sort_text);
  if (sort === undefined) throw validationError('sort', `Expected one of ${SORT_FIELDS.join(', ')}, with asc or desc.`);
  return { project_id, query: parsed.query, sort };
}

function pageOf(
  { start, search_after }: SearchRequest,
  size: number,
  read: (cursor: string) => PageEnd | 'other' | undefined,
) {
  if (search_after === undefined) {
    const position = start ?? 0;
    if (position + size <= SEARCH_REACH) return { size, start: position };
    throw validationError(
      'start',
      `Expected start and size of ${SEARCH_REACH} at most together: beyond that use search_after.`,
    );
  }
  if (start !== undefined) throw validationError('search_after', 'Expected start or search_after, not both.');
  if (String(search_after) === FIRST) return { size, start: 0 };
  const after = read(String(search_after));
  if (after === undefined) throw validationError('search_after', 'Expected -1, or the sort of the answer before.');
  if (after === 'other') {
    throw validationError(
      'search_after',
      'It was returned for another query, sort or size. Send the same ones, or -1 to start again.',
    );
  }
  return { size, after };
}
