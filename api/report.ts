import { text } from 'node:stream/consumers';
import { format } from 'fast-csv';
import { recordCondition, reportRows, reportRowsByCreation } from '../src/db/report-rows';
import { FIELDS, FIELD_NAMES, type Field, type FieldName } from '../src/domain/query/fields';
import { conditionsOf, matches } from '../src/domain/query/query';
import { decimalOf, rowOf, type ReportRow } from '../src/domain/query/report';
import type { FoundRow, Wanted } from '../src/search/reader';
import type { Services } from './merchant';
import { oneAtATime, type OneAtATime } from './one-at-a-time';
import { timestamp } from './present';

/** Rows that are read and written at a time: few, as other requests wait meanwhile. */
const PAGE = 500;
/** Rows that the index is asked for at a time: it evaluates the whole query for each request. */
const FOUND_PAGE = 5_000;

type ReportServices = Pick<Services, 'db' | 'search'>;

/**
 * The transaction report (rules 20.14): a CSV file, in pieces, with a row for each transaction that meets the query. In
 * a process one page of all reports is made at a time, so that payments do not notice, and a client that reads slowly
 * keeps nobody waiting. Throws ServiceUnavailable when the index is needed and does not answer.
 */
export function reportsInTurn(services: ReportServices): (wanted: Wanted) => AsyncGenerator<string> {
  const inTurn = oneAtATime();
  return async function* report(wanted) {
    // Sent with the first rows: a report that cannot begin is an error, not a file with a header.
    let header = `${FIELD_NAMES.join(',')}\r\n`;
    for await (const rows of ahead(pagesOf(services, wanted), inTurn)) {
      if (rows.length === 0) continue;
      yield header + (await csvOf(rows));
      header = '';
    }
    if (header !== '') yield header;
  };
}

/** The rows, from the record alone where that can find them, so that these reports go on without the index. */
function pagesOf({ db, search }: ReportServices, wanted: Wanted): AsyncGenerator<ReportRow[]> {
  const { project_id, query, sort } = wanted;
  const condition = sort.field === 'created' ? recordCondition(query) : undefined;
  return condition === undefined
    ? foundRows(db, ahead(search.rows(wanted, FOUND_PAGE)), wanted)
    : reportRowsByCreation(db, { project_id, condition, direction: sort.direction }, FIELD_NAMES, PAGE);
}

/** What the index finds, as the record has it: a row that has changed may no longer meet the query. */
async function* foundRows(
  db: ReportServices['db'],
  pages: AsyncGenerator<FoundRow[]>,
  { project_id, query }: Wanted,
): AsyncGenerator<ReportRow[]> {
  const subjects = conditionsOf(query).map(({ field }) => field);
  for await (const page of pages) {
    for (let begin = 0; begin < page.length; begin += PAGE) {
      const found = page.slice(begin, begin + PAGE);
      const order_ids = [...new Set(found.map(({ order_id }) => order_id))];
      const rows = await reportRows(db, order_ids, [...FIELD_NAMES, ...subjects]);
      const byPlace = new Map(rows.map((row) => [`${row.order_id} ${row.attempt}`, row]));
      yield found.flatMap(({ order_id, attempt }) => {
        const row = byPlace.get(`${order_id} ${attempt}`);
        return row?.project_id === project_id && matches(query, rowOf(row, subjects)) ? [row] : [];
      });
    }
  }
}

/** Makes the next page while this one is used; `inTurn`: when it is its turn. */
async function* ahead<T>(
  pages: AsyncGenerator<T>,
  inTurn: OneAtATime = (work) => work(),
): AsyncGenerator<T, undefined> {
  try {
    let next = inTurn(() => pages.next());
    for (;;) {
      const { value, done } = await next;
      if (done === true) return;
      next = inTurn(() => pages.next());
      // It is awaited above; a reader who leaves meanwhile must not make its failure an unhandled one.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await pages.return(undefined);
  }
}

/** RFC 4180. */
async function csvOf(rows: readonly ReportRow[]): Promise<string> {
  const csv = format({ headers: false, rowDelimiter: '\r\n', includeEndRowDelimiter: true });
  for (const row of rows) csv.write(COLUMNS.map((cellOf) => cellOf(row)));
  csv.end();
  return await text(csv);
}

const COLUMNS = FIELD_NAMES.map((field): ((row: ReportRow) => string) => {
  const write = writerOf(field);
  return (row) => {
    const value = row[field];
    return value === null || value === undefined ? '' : write(value, row);
  };
});

function writerOf(field: FieldName): (value: string | number, row: ReportRow) => string {
  const { type }: Field = FIELDS[field];
  switch (type) {
    case 'instant':
      return (value) => timestamp(String(value));
    case 'decimal':
      return (value, row) => decimalOf(field, value, row);
    case 'text':
      return (value) => withoutFormula(String(value));
    default:
      return String;
  }
}

/** A spreadsheet would run a text that begins so; a number it only shows. */
function withoutFormula(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) && !/^[+-]?\d+(?:\.\d+)?$/.test(cell) ? `'${cell}` : cell;
}
