import { decimalAmount } from '../currency';
import { DECLINED, FIELDS, SEARCH_FIELD_NAMES, type Field, type FieldName } from './fields';
import type { SearchRow, Subject } from './query';
import { WORDS_MAX, fold, wordsOf } from './text';

/**
 * A row as the record holds it, with the fields it was read for: absent values are null, instants ISO 8601 texts,
 * amounts minor units, flags separated by spaces. `words` is the text that free words are looked for in.
 */
export type ReportRow = {
  order_id: string;
  /** Unique number of the order, about in the order of creation. */
  order_sequence: number;
  /** Counts the transactions of the order from 1; also 1 while it has none. */
  attempt: number;
} & { [F in Subject]?: string | number | null };

/** All subjects of queries. */
export const SUBJECTS: readonly Subject[] = [...SEARCH_FIELD_NAMES, 'words'];

/** The row as queries see it; with some subjects alone where a query is about no others. */
export function rowOf(row: ReportRow, subjects = SUBJECTS): SearchRow {
  const values: Partial<Record<Subject, string | number | readonly string[]>> = {};
  for (const subject of subjects) {
    const value = row[subject];
    if (value === null || value === undefined) continue;
    values[subject] = subject === 'words' ? firstWords(String(value)) : comparable(subject, value, row);
  }
  return values;
}

const firstWords = (text: string) => [...new Set(wordsOf(text).slice(0, WORDS_MAX))];

function comparable(field: FieldName, value: string | number, row: ReportRow): SearchRow[Subject] & {} {
  const { type }: Field = FIELDS[field];
  if (field === 'flags') return fold(String(value)).split(' ');
  // A query for errors also finds declines (rules 20.4).
  if (field === 'transaction.status' && value === DECLINED) return ['error', DECLINED];
  if (type === 'instant') return Date.parse(String(value));
  if (type === 'decimal') return Number(decimalOf(field, value, row));
  return typeof value === 'number' ? value : fold(value);
}

/** An amount in main units, by its own currency. */
function decimalOf(field: FieldName, value: string | number, row: ReportRow): string {
  const { currency = '' }: Field = FIELDS[field];
  return decimalAmount(Number(value), String(row[currency as FieldName]));
}
