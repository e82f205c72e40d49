import { DAY_MS, HOUR_MS, type TimeSpan } from '../../domain/period';
import { toIsoTime } from '../../time';
import { queryRows, type Database } from '../query';
import { keyset, type PagePosition } from '../pages';
import { SOURCES, type RecoverySource, type SourceName, type SourceRows } from './sources';

const MINUTE = 60_000;
/** No order, capture window or unknown outcome lasts longer than this. */
const LONGEST = 45 * DAY_MS;

/**
 * When rows are checked, in milliseconds after the first check: after 4, 14 and 29 minutes, every hour, after a day
 * every six hours.
 */
const INTERVALS = [
  ...[0, 4, 14, 29].map((minutes) => minutes * MINUTE),
  ...every(HOUR_MS, { from: HOUR_MS - MINUTE, to: DAY_MS - MINUTE }),
  ...every(6 * HOUR_MS, { from: DAY_MS - MINUTE, to: LONGEST }),
];

function every(interval: number, { from, to }: { from: number; to: number }): number[] {
  return Array.from({ length: Math.ceil((to - from) / interval) }, (_, n) => from + n * interval);
}

/**
 * The periods of all checks that fell due between `since` and `until`. If a row missed several checks, only the last
 * one is made: a row is in one period at most.
 */
function duePeriods({ is_repeated }: RecoverySource, { since, until }: TimeSpan): TimeSpan[] {
  const intervals = is_repeated ? INTERVALS : INTERVALS.slice(0, 2);
  return intervals.map((interval, n) => {
    const end = until - interval;
    const next = intervals[n + 1];
    return { since: Math.min(end, Math.max(since - interval, next === undefined ? 0 : until - next)), until: end };
  });
}

/** A row that is due for a check. */
export interface Check<Name extends SourceName> {
  row: SourceRows[Name];
  /** Identifies the row. */
  key: string;
  /** Whether this is the first check since the row's instant. */
  is_first: boolean;
  position: PagePosition;
}

/** The next rows of a source that fell due for a check between `since` and `until`, epoch milliseconds. */
export async function findChecks<Name extends SourceName>(
  db: Database,
  name: Name,
  due: { since: number; until: number; after: PagePosition | null; limit: number },
): Promise<Check<Name>[]> {
  const { columns, from, at, key } = SOURCES[name];
  const { order, position, isAfter, bindings } = keyset(
    [
      ['p.n', 'integer'],
      [at, 'timestamptz'],
      [key, 'text'],
    ],
    'asc',
    due.after ?? undefined,
  );
  // Reads only the rest of a period under way, and nothing of those before it.
  const [period, from_at] = [Number(due.after?.[0] ?? 1), due.after?.[1]];
  const begins = ({ since, until }: TimeSpan, n: number) =>
    n + 1 === period && from_at !== undefined ? from_at : toIsoTime(n + 1 < period ? until : since);
  const periods = duePeriods(SOURCES[name], due);
  const found = await queryRows<SourceRows[Name] & Omit<Check<Name>, 'row'> & { at: string }>(
    db,
    `select x.* from unnest(:begins::timestamptz[], :ends::timestamptz[]) with ordinality p (begins, ends, n)
     cross join lateral (
       select ${at} as at, ${key} as key, ${position} as position, ${at} >= :since as is_first, ${columns} from ${from}
         and ${at} >= p.begins and ${at} < p.ends ${isAfter === undefined ? '' : `and ${isAfter}`}
       order by ${order} limit :limit
     ) x
     order by p.n, x.at, x.key limit :limit`,
    {
      ...bindings,
      begins: periods.map(begins),
      ends: periods.map(({ until }) => toIsoTime(until)),
      since: toIsoTime(due.since),
      limit: due.limit,
    },
  );
  return found.map(({ at: _at, key, position, is_first, ...row }) => ({
    row: row as unknown as SourceRows[Name],
    key,
    is_first,
    position,
  }));
}
