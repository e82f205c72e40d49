import { decimalAmount } from '../currency';
import { DECLINED, FIELDS, FIELD_NAMES, type Field, type FieldName } from './fields';
import type { Row, Subject } from './query';
import { WORDS_MAX, fold, wordsOf } from './text';

/**
 * A row as the record holds it, with the fields it was read for: absent values are null, instants ISO 8601 texts,
 * amounts minor units. `words` is the text that free words are looked for in.
 */
export type ReportRow = {
  order_id: string;
  /** Unique number of the order, about in the order of creation. */
  order_sequence: number;
  /** Counts the transactions of the order from 1; also 1 while it has none. */
  attempt: number;
} & { [F in Subject]?: string | number | readonly string[] | null };

/** The row as queries see it. */
export function rowOf(row: ReportRow): Row {
  const values: Partial<Record<Subject, string | number | readonly string[]>> = {};
  for (const field of FIELD_NAMES) {
    const value = row[field];
    if (value === null || value === undefined) continue;
    const compared = comparable(field, value, row);
    if (typeof compared !== 'object' || compared.length > 0) values[field] = compared;
  }
  if (typeof row.words === 'string') values.words = [...new Set(wordsOf(row.words).slice(0, WORDS_MAX))];
  return values;
}

function comparable(field: FieldName, value: string | number | readonly string[], row: ReportRow): Row[Subject] & {} {
  const { type }: Field = FIELDS[field];
  if (typeof value === 'object') return value.map(fold);
  // Whoever looks for errors means declines too (rules 20.4).
  if (field === 'transaction.status' && value === DECLINED) return ['error', DECLINED];
  if (type === 'instant') return Date.parse(String(value));
  if (type === 'decimal') return Number(decimalOf(field, value, row));
  return typeof value === 'number' ? value : fold(value);
}

/** An amount in main units, by its own currency. */
export function decimalOf(field: FieldName, value: string | number | readonly string[], row: ReportRow): string {
  const { currency = '' }: Field = FIELDS[field];
  return decimalAmount(Number(value), String(row[currency as FieldName]));
}
