import type { Database } from '../../src/db/query';
import {
  orderIdsByCreation,
  recordCondition,
  reportTexts,
  rowReader,
  type ReportTexts,
} from '../../src/db/search/report-rows';
import { refusedOrders } from '../../src/db/search/search-outbox';
import { allParts } from '../../src/db/pages';
import { SEARCH_FIELD_NAMES } from '../../src/domain/query/fields';
import { conditionsOf, matches, type Subject } from '../../src/domain/query/query';
import { SUBJECTS, rowOf } from '../../src/domain/query/report';
import type { InTurn, Wanted } from '../../src/search/reader';
import type { MerchantServices } from '../merchant';
import { csvOf } from './report-cells';

/** Rows that are read and written at a time: few, because other requests wait during that. */
const PAGE = 200;
/** Maximum comparisons of a condition with a row at a time, so queries with many conditions read fewer rows. */
const COMPARISONS = 20_000;
/** Orders or rows that are looked for at a time: the index evaluates the whole query for each request. */
const FOUND_PAGE = 20_000;
/** The column of the project. */
const PROJECT = SEARCH_FIELD_NAMES.indexOf('project_id');

interface ReportServices extends Pick<MerchantServices, 'search'> {
  /** Reads when it is the project's turn. Rejects once the report is given up. */
  readonly readRecord: <T>(work: (db: Database) => Promise<T>) => Promise<T>;
}

/** A transaction of an order; without `attempt` all of the order's. */
interface Place {
  order_id: string;
  attempt?: number;
}

/**
 * The transaction report (rules 20.14): a CSV file, in pieces, with a row for each transaction that meets the query.
 * Throws ServiceUnavailable when the index is needed and does not answer, or is behind.
 */
export async function* reportCsv(services: ReportServices, wanted: Wanted, inTurn: InTurn): AsyncGenerator<Buffer> {
  // Sent with the first rows: a report that cannot begin is an error, not a file with a header.
  let header: Buffer | undefined = Buffer.from(`${SEARCH_FIELD_NAMES.join(',')}\r\n`);
  for await (const rows of nextAhead(rowsOf(services, wanted, inTurn))) {
    const csv = await csvOf(rows);
    if (csv.length === 0) continue;
    yield header === undefined ? csv : Buffer.concat([header, csv]);
    header = undefined;
  }
  if (header !== undefined) yield header;
}

/** The rows, page by page. */
async function* rowsOf(services: ReportServices, wanted: Wanted, inTurn: InTurn): AsyncGenerator<ReportTexts[]> {
  const conditions = conditionsOf(wanted.query);
  const subjects = [...new Set(conditions.map(({ field }) => field))];
  const page = Math.min(PAGE, Math.ceil(COMPARISONS / conditions.length));
  for await (const places of nextAhead(placesOf(services, wanted, inTurn))) {
    for (let begin = 0; begin < places.length; begin += page) {
      yield await rowsAt(services, wanted, { places: places.slice(begin, begin + page), subjects });
    }
  }
}

/** Finds the rows, in the database alone where it has an index for them: such reports need no search index. */
async function* placesOf(
  { readRecord, search }: ReportServices,
  wanted: Wanted,
  inTurn: InTurn,
): AsyncGenerator<Place[]> {
  const { project_id, query, sort } = wanted;
  const { direction } = sort;
  const condition = sort.field === 'created' ? recordCondition(query) : undefined;
  if (condition === undefined) {
    // The index lacks them, or has them as they were: the record tells whether they meet the query. Read once the index
    // has answered, as it is waited for until it is current.
    const readRefused = async () => new Set(await readRecord((db) => refusedOrders(db, project_id)));
    let refused: Set<string> | undefined;
    for await (const places of search.rows(wanted, FOUND_PAGE, inTurn)) {
      const others = (refused ??= await readRefused());
      yield places.filter(({ order_id }) => !others.has(order_id));
    }
    return yield Array.from(refused ?? (await readRefused()), (order_id) => ({ order_id }));
  }
  const asked = { project_id, condition, direction };
  yield* allParts((after) => readRecord((db) => orderIdsByCreation(db, asked, { rows: FOUND_PAGE, after })));
}

/** Rows as the record has them: one that has changed since it was found may no longer meet the query. */
async function rowsAt(
  { readRecord }: ReportServices,
  { project_id, query, sort }: Wanted,
  { places, subjects }: { places: readonly Place[]; subjects: readonly Subject[] },
): Promise<ReportTexts[]> {
  const fields = subjects.includes('words') ? SUBJECTS : SEARCH_FIELD_NAMES;
  const read = rowReader(subjects, fields);
  const order_ids = [...new Set(places.map(({ order_id }) => order_id))];
  const rows = await readRecord((db) => reportTexts(db, order_ids, fields));
  const found = new Map(order_ids.map((order_id): [string, ReportTexts[]] => [order_id, []]));
  for (const row of sort.direction === 'asc' ? rows : rows.toReversed()) {
    const isWanted = row.texts[PROJECT] === project_id && matches(query, rowOf(read(row), subjects));
    if (isWanted) found.get(row.order_id)?.push(row);
  }
  return places.flatMap(({ order_id, attempt }) => {
    const ofOrder = found.get(order_id) ?? [];
    return attempt === undefined ? ofOrder : ofOrder.filter((row) => row.attempt === attempt);
  });
}

/** Prepares the next item while the current one is used. */
async function* nextAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T, undefined> {
  try {
    let next = items.next();
    for (;;) {
      const { value, done } = await next;
      if (done === true) return;
      next = items.next();
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await items.return(undefined);
  }
}
