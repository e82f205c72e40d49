import type { SearchRow } from '../domain/query/query';
import { SUBJECTS } from '../domain/query/report';
import { stored } from './text';

/** Where a row stands among all rows. */
export interface RowPlace {
  readonly order_id: string;
  /** Unique number of the order, in about the order of creation. */
  readonly order_sequence: number;
  /** Counts the transactions of the order from 1; also 1 while it has none. */
  readonly attempt: number;
}

/** A row as the index stores it: texts encoded, numbers unchanged, absent values left out. */
export interface Document {
  readonly pk: string;
  /** Set on the first row of each order, which represents the order in queries without transaction fields. */
  readonly lead?: true;
  readonly order_sequence: number;
  readonly row_sequence: number;
  readonly [field: string]: string | number | true | readonly string[];
}

/** More than an order can have transactions, and as many as a word has bits in row-numbers.ts. */
export const ROWS_MAX = 32;

/** The document of a row. */
export function documentOf(row: SearchRow, { order_id, order_sequence, attempt }: RowPlace): Document {
  const document: { -readonly [Key in keyof Document]: Document[Key] } = {
    pk: primaryKey(order_id, attempt),
    ...(attempt === 1 && { lead: true }),
    order_sequence,
    row_sequence: order_sequence * ROWS_MAX + attempt - 1,
  };
  for (const subject of SUBJECTS) {
    const value = row[subject];
    if (value !== undefined) document[subject] = indexed(value);
  }
  return document;
}

function indexed(value: string | number | readonly string[]): string | number | readonly string[] {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? stored(value) : value.map(stored);
}

/** Keys of every document an order may have. */
export function primaryKeys(order_id: string): string[] {
  return Array.from({ length: ROWS_MAX }, (_, index) => primaryKey(order_id, index + 1));
}

const primaryKey = (order_id: string, attempt: number) => `${order_id}_${attempt - 1}`;

/** The id of the order in a document. */
export function orderIdOf({ pk }: Pick<Document, 'pk'>): string {
  return pk.slice(0, pk.indexOf('_'));
}

/** The number of the transaction in a document. */
export function attemptOf({ pk }: Pick<Document, 'pk'>): number {
  return Number(pk.slice(pk.indexOf('_') + 1)) + 1;
}
