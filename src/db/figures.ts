import { queryRows, type Database } from './connection';

/** What the record shows of the work that waits. Counts end at a limit; ages in seconds, 0 without a row. */
export interface Figures {
  unknown_outcomes: number;
  unknown_outcome_age: number;
  outbox_rows: number;
  outbox_age: number;
  refused_orders: number;
  deliveries_due: number;
  delivery_age: number;
  /** Age of the instant until which recovery has checked all rows; null before its first round. */
  recovery_behind: number | null;
  /** Age of the last log file that Postgres has archived; null where it archives none. */
  archive_age: number | null;
}

const countOf = (rows: string, limit: number) => `(select count(*)::int from (select 1 from ${rows} limit ${limit}) x)`;
/** The difference to an instant, in seconds. Clocks of sandboxes may be ahead: then 0. */
const ageOf = (instant: string) =>
  `greatest(coalesce(extract(epoch from clock_timestamp() - (select ${instant}))::float8, 0), 0)`;

const DUE = `webhook_deliveries where status = 'new' and next_attempt_at <= clock_timestamp()`;
const UNKNOWN = `transactions where status = 'processing'`;

const FIND_FIGURES = `
  select ${countOf(UNKNOWN, 10_000)} as unknown_outcomes, ${ageOf(`min(modified) from ${UNKNOWN}`)} as unknown_outcome_age,
    ${countOf('search_outbox', 100_000)} as outbox_rows,
    ${ageOf('changed from search_outbox order by id limit 1')} as outbox_age,
    ${countOf('search_refusals', 10_000)} as refused_orders,
    ${countOf(DUE, 100_000)} as deliveries_due, ${ageOf(`min(next_attempt_at) from ${DUE}`)} as delivery_age,
    (select extract(epoch from clock_timestamp() - min(checked_until))::float8 from recovery_progress) as recovery_behind,
    (select extract(epoch from clock_timestamp() - last_archived_time)::float8 from pg_stat_archiver
     where current_setting('archive_mode') <> 'off') as archive_age`;

/** The figures now. Each part reads an index, and no more rows than its limit. */
export async function findFigures(db: Database): Promise<Figures> {
  const [figures] = await queryRows<Figures>(db, FIND_FIGURES, {});
  return figures!;
}
