import { writeToString } from 'fast-csv';
import { orderIdsByCreation, recordCondition, reportRows } from '../src/db/search';
import { FIELDS, FIELD_NAMES, type Field, type FieldName } from '../src/domain/query/fields';
import { conditionsOf, matches } from '../src/domain/query/query';
import { decimalOf, rowOf, type ReportRow } from '../src/domain/query/report';
import type { Wanted } from '../src/search/reader';
import type { Services } from './merchant';
import { oneAtATime, type OneAtATime } from './one-at-a-time';
import { timestamp } from './present';

/** Rows that are read and written at a time. */
const PAGE = 1_000;

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
async function* pagesOf({ db, search }: ReportServices, wanted: Wanted): AsyncGenerator<ReportRow[]> {
  const { project_id, query, sort } = wanted;
  const condition = sort.field === 'created' ? recordCondition(query) : undefined;
  if (condition !== undefined) {
    const direction = sort.direction;
    for await (const order_ids of orderIdsByCreation(db, { project_id, condition, direction }, PAGE)) {
      const rows = await reportRows(db, order_ids, FIELD_NAMES);
      const places = new Map(order_ids.map((order_id, place) => [order_id, place]));
      const turn = direction === 'asc' ? 1 : -1;
      yield rows.toSorted(
        (a, b) => places.get(a.order_id)! - places.get(b.order_id)! || turn * (a.attempt - b.attempt),
      );
    }
    return;
  }
  const needsWords = conditionsOf(query).some(({ field }) => field === 'words');
  const fields = needsWords ? [...FIELD_NAMES, 'words' as const] : FIELD_NAMES;
  for await (const found of search.rows(wanted, PAGE)) {
    const rows = await reportRows(db, [...new Set(found.map(({ order_id }) => order_id))], fields);
    const byPlace = new Map(rows.map((row) => [`${row.order_id} ${row.attempt}`, row]));
    // The index finds, the record says what is: a row that has changed may no longer meet the query.
    yield found.flatMap(({ order_id, attempt }) => {
      const row = byPlace.get(`${order_id} ${attempt}`);
      return row?.project_id === project_id && matches(query, rowOf(row)) ? [row] : [];
    });
  }
}

/** Reads the next page while this one is written; `inTurn`: when it is its turn. */
async function* ahead<T>(pages: AsyncGenerator<T>, inTurn: OneAtATime): AsyncGenerator<T> {
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
  return await writeToString(
    rows.map((row) => FIELD_NAMES.map((field) => cellOf(field, row))),
    { rowDelimiter: '\r\n', includeEndRowDelimiter: true },
  );
}

function cellOf(field: FieldName, row: ReportRow): string {
  const value = row[field];
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return value.join(' ');
  const { type }: Field = FIELDS[field];
  if (type === 'instant') return timestamp(String(value));
  if (type === 'decimal') return decimalOf(field, value, row);
  return typeof value === 'number' ? String(value) : withoutFormula(value);
}

/** A spreadsheet would run a text that begins so; a number it only shows. */
function withoutFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
}
