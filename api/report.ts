import { orderIdsByCreation, recordCondition, reportTexts, rowReader, type ReportTexts } from '../src/db/report-rows';
import { oneAtATime, type OneAtATime } from '../src/domain/one-at-a-time';
import { FIELD_NAMES } from '../src/domain/query/fields';
import { conditionsOf, matches } from '../src/domain/query/query';
import { SUBJECTS, rowOf } from '../src/domain/query/report';
import type { Wanted } from '../src/search/reader';
import type { Services } from './merchant';
import { csvOf } from './report-cells';

/** Rows that are read and written at a time: few, as other requests wait meanwhile. */
const PAGE = 1_000;
/** Orders or rows that are looked for at a time: the index evaluates the whole query for each request. */
const FOUND_PAGE = 20_000;
/** Pages that are read while one is written: as many as keep the database busy. */
const PAGES_AHEAD = 2;
/** The column of the project. */
const PROJECT = FIELD_NAMES.indexOf('project_id');

type ReportServices = Pick<Services, 'db' | 'search'>;

/** A transaction of an order; without `attempt` all of the order's. */
interface Place {
  order_id: string;
  attempt?: number;
}

/**
 * The transaction report (rules 20.14): a CSV file, in pieces, with a row for each transaction that meets the query. In
 * a process two pages of all reports are read at a time, so that payments do not notice, and a client that reads slowly
 * keeps nobody waiting. Throws ServiceUnavailable when the index is needed and does not answer.
 */
export function reportsInTurn(services: ReportServices): (wanted: Wanted) => AsyncGenerator<Buffer> {
  const turns = Array.from({ length: PAGES_AHEAD }, () => oneAtATime());
  return async function* report(wanted) {
    // Sent with the first rows: a report that cannot begin is an error, not a file with a header.
    let header: Buffer | undefined = Buffer.from(`${FIELD_NAMES.join(',')}\r\n`);
    for await (const csv of readAhead(services.db, wanted, placesOf(services, wanted), turns)) {
      if (csv.length === 0) continue;
      yield header === undefined ? csv : Buffer.concat([header, csv]);
      header = undefined;
    }
    if (header !== undefined) yield header;
  };
}

/** Finds the rows, in the database alone where that is possible: such reports need no search index. */
async function* placesOf({ db, search }: ReportServices, wanted: Wanted): AsyncGenerator<Place[]> {
  const { project_id, query, sort } = wanted;
  const condition = sort.field === 'created' ? recordCondition(query) : undefined;
  const found: AsyncGenerator<Place[]> =
    condition === undefined
      ? search.rows(wanted, FOUND_PAGE)
      : orderIdsByCreation(db, { project_id, condition, direction: sort.direction }, FOUND_PAGE);
  for await (const places of nextAhead(found)) {
    for (let begin = 0; begin < places.length; begin += PAGE) yield places.slice(begin, begin + PAGE);
  }
}

/**
 * The file, page by page: the next pages are read while one is used, each when it is its turn. Rows become text as they
 * come: while they wait, the garbage collector would copy them, which took a tenth of the time.
 */
async function* readAhead(
  db: ReportServices['db'],
  wanted: Wanted,
  pages: AsyncGenerator<Place[]>,
  turns: readonly OneAtATime[],
): AsyncGenerator<Buffer> {
  const reading: Promise<Buffer>[] = [];
  let n = 0;
  for await (const places of pages) {
    const csv = turns[n++ % turns.length]!(() => rowsAt(db, wanted, places)).then(csvOf);
    // It is awaited below; a reader who leaves meanwhile must not make its failure an unhandled one.
    csv.catch(() => undefined);
    reading.push(csv);
    if (reading.length > turns.length) yield await reading.shift()!;
  }
  for (const csv of reading) yield await csv;
}

/** Rows as the record has them: one that has changed since it was found may no longer meet the query. */
async function rowsAt(
  db: ReportServices['db'],
  { project_id, query, sort }: Wanted,
  places: readonly Place[],
): Promise<ReportTexts[]> {
  const subjects = conditionsOf(query).map(({ field }) => field);
  const fields = subjects.includes('words') ? SUBJECTS : FIELD_NAMES;
  const read = rowReader(subjects, fields);
  const order_ids = [...new Set(places.map(({ order_id }) => order_id))];
  const rows = await reportTexts(db, order_ids, fields);
  const rowsOf = new Map(order_ids.map((order_id): [string, ReportTexts[]] => [order_id, []]));
  for (const row of sort.direction === 'asc' ? rows : rows.toReversed()) {
    const isWanted = row.texts[PROJECT] === project_id && matches(query, rowOf(read(row), subjects));
    if (isWanted) rowsOf.get(row.order_id)?.push(row);
  }
  return places.flatMap(({ order_id, attempt }) => {
    const ofOrder = rowsOf.get(order_id) ?? [];
    return attempt === undefined ? ofOrder : ofOrder.filter((row) => row.attempt === attempt);
  });
}

/** Makes the next item while this one is used. */
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
