import { toIsoTime } from '../../src/time';

/**
 * ISO 8601 with microseconds and offset: `2026-01-15T12:00:05.433502+00:00`. Takes any ISO text in UTC as Postgres
 * writes it.
 */
export function formatTimestamp(text: string): string {
  const [, date, time, fraction = ''] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?/.exec(text) ?? [];
  return `${date}T${time}.${fraction.padEnd(6, '0')}+00:00`;
}

type WithoutNull<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: NonNullable<T[K]>;
};

/** The object without its null values and empty arrays. */
export function omitNull<T extends object>(value: T): WithoutNull<T> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const field = value[name as keyof T];
    if (field !== null && field !== undefined && !(Array.isArray(field) && field.length === 0)) kept[name] = field;
  }
  return kept as WithoutNull<T>;
}

/** An instant in epoch milliseconds as the wire shows it. */
export const formatInstant = (epoch_ms: number) => formatTimestamp(toIsoTime(epoch_ms));

/** A page as it is answered. */
export function presentPage<Row, Item>(
  { items, next }: { items: Row[]; next?: string },
  present: (row: Row) => Item,
): { items: Item[]; next?: string } {
  return { items: items.map(present), ...(next !== undefined && { next }) };
}
