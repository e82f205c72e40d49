import { once } from 'node:events';
import { format } from 'fast-csv';
import type { ReportTexts } from '../../src/db/search/report-rows';
import { decimalAmount } from '../../src/domain/currency';
import { FIELDS, SEARCH_FIELD_NAMES, type Field, type FieldName } from '../../src/domain/query/fields';
import { formatTimestamp } from '../present/format';

/** Rows of the report as CSV: RFC 4180, in UTF-8, every text in quotation marks (rules 20.14, 20.26). */
export async function csvOf(rows: readonly Pick<ReportTexts, 'texts'>[]): Promise<Buffer> {
  if (rows.length === 0) return Buffer.alloc(0);
  const csv = format({
    headers: false,
    rowDelimiter: '\r\n',
    includeEndRowDelimiter: true,
    quoteColumns: SEARCH_FIELD_NAMES.map((_field, at) => TEXTS.includes(at)),
  });
  const pieces: Buffer[] = [];
  csv.on('data', (piece: Buffer) => pieces.push(piece));
  for (const { texts } of rows) {
    const is_split = TEXTS.some((at) => OTHER_SEPARATOR.test(texts[at] ?? ''));
    csv.write(WRITERS.map((write, at) => write(texts[at] ?? '', texts, is_split)));
  }
  csv.end();
  await once(csv, 'end');
  return Buffer.concat(pieces);
}

/** The columns that hold texts. */
const TEXTS = SEARCH_FIELD_NAMES.flatMap((field, at) => (FIELDS[field].type === 'text' ? [at] : []));

/**
 * The cell of a column for a text that the record has, nothing for an absent one; `is_split`: other separators than the
 * comma would split the row.
 */
type Writer = (text: string, texts: ReportTexts['texts'], is_split: boolean) => string;
const WRITERS = SEARCH_FIELD_NAMES.map(writerOf);

function writerOf(field: FieldName): Writer {
  const { type, currency }: Field = FIELDS[field];
  switch (type) {
    case 'instant':
      return (text) => (text === '' ? '' : formatTimestamp(text));
    case 'decimal': {
      const at = SEARCH_FIELD_NAMES.indexOf(currency as FieldName);
      return (text, texts) => (text === '' ? '' : decimalAmount(Number(text), texts[at]!));
    }
    case 'text':
      return (text, _texts, is_split) => withoutFormula(text, is_split);
    default:
      return (text) => text;
  }
}

/** The possible beginning of a formula; some spreadsheets drop quotation marks, spaces and invisible characters. */
const FORMULA = /^(?:[\t\r\n]|["\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20])/u;
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
/** Where a spreadsheet that separates cells by semicolons or tabs, as Excel in most of Europe, ends a cell or a row. */
const OTHER_SEPARATOR = /[;\t\r\n]/;
/** A separator before a possible formula. */
const BEFORE_FORMULA = /(?:\r\n|[;,\t\r\n])(?=(?:(?![\t\r\n])["\s\p{C}])*[=+\-@\uff1d\uff0b\uff0d\uff20])/gu;

/**
 * A text that no spreadsheet runs: with `'` where a formula could begin. Quotation marks alone do not help: a
 * spreadsheet that separates cells by semicolons sees them at the start of a cell only. A row that it splits in the
 * middle may be split again by commas, so there the commas count too.
 */
function withoutFormula(text: string, is_split: boolean): string {
  const inside = is_split ? text.replace(BEFORE_FORMULA, "$&'") : text;
  return FORMULA.test(inside) && !NUMBER.test(inside) ? `'${inside}` : inside;
}

/** Characters of the project's name in the name of the file: with four bytes each no file system finds it too long. */
const NAME_LENGTH_MAX = 50;

/** The project and the day of the report, in letters, digits and a few marks that are safe in every file system. */
export function reportFileName(project: string, now: number): string {
  const name = project.replace(/[^\p{L}\p{M}\p{N} ,.()_+-]/gu, '-').replace(/^[ .-]+/, '');
  const shortened = Array.from(name).slice(0, NAME_LENGTH_MAX).join('').trimEnd();
  return `${shortened || 'report'} ${new Date(now).toISOString().slice(0, 10)}.csv`;
}
