import { createHash } from 'node:crypto';

/** Where a page of search results ended: the last order's sort value (null: it has none) and its number. */
export interface PageEnd {
  readonly value: number | null;
  readonly order_sequence: number;
}

/** The parameters that all requests of one paged search have in common. */
export interface Sequence {
  readonly project_id: string;
  readonly query: string;
  /** `<field> <direction>`. */
  readonly sort: string;
  readonly size: number;
}

const VERSION = 1;

/** The cursor that continues a paged search after a place. */
export function searchCursorOf(sequence: Sequence, { value, order_sequence }: PageEnd): string {
  return Buffer.from(JSON.stringify([VERSION, digest(sequence), value, order_sequence])).toString('base64url');
}

/** Where a cursor continues; `other` when it is of another search, `undefined` when it is no cursor. */
export function placeOf(cursor: string, sequence: Sequence): PageEnd | 'other' | undefined {
  const content = jsonOf(Buffer.from(cursor, 'base64url').toString());
  if (!Array.isArray(content) || content.length !== 4) return undefined;
  const [version, of, value, order_sequence] = content as unknown[];
  if (version !== VERSION || typeof of !== 'string') return undefined;
  if ((value !== null && !Number.isSafeInteger(value)) || !Number.isSafeInteger(order_sequence)) return undefined;
  return of === digest(sequence)
    ? { value: value as number | null, order_sequence: order_sequence as number }
    : 'other';
}

function digest({ project_id, query, sort, size }: Sequence): string {
  return createHash('sha256')
    .update(JSON.stringify([project_id, query, sort, size]))
    .digest('base64url')
    .slice(0, 22);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
