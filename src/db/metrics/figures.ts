import { ARCHIVE_AGE, ARCHIVE_FAILS, BACKUP_CHECK_AGE } from '../backups/backups';
import { queryRows, requireRow, type Database } from '../query';

/** What the record shows of the work that waits. Counts end at a limit; ages in seconds, 0 without a row. */
export interface Figures {
  unknown_outcomes: number;
  unknown_outcome_age: number;
  outbox_rows: number;
  outbox_age: number;
  refused_orders: number;
  deliveries_due: number;
  delivery_age: number;
  /** Rolled API keys that end within a day, and were used on a later day than that of the roll: today or yesterday. */
  rolled_keys_in_use: number;
  /** Age of the instant until which recovery has checked all rows; null before its first round. */
  recovery_behind: number | null;
  /** Age of the instant until which the audit has compared all, or of its first run; before that, of the record. */
  audit_behind: number;
  /** Time since the processor's settlements were last fetched to the end. */
  settlements_behind: number;
  /**
   * Time since Postgres last archived its log, and whether its last attempt failed: 1 or 0; null where it archives
   * none.
   */
  archive_age: number | null;
  archive_fails: number | null;
  /** Time since a backup of the record last passed its check, or since the first check; null before that. */
  backup_check_age: number | null;
}

const countOf = (rows: string, limit: number) => `(select count(*)::int from (select 1 from ${rows} limit ${limit}) x)`;
/** The difference to an instant, in seconds. Clocks of sandboxes may be ahead: then 0. */
const ageOf = (instant: string) =>
  `greatest(coalesce(extract(epoch from clock_timestamp() - (select ${instant}))::float8, 0), 0)`;

const DUE = `webhook_deliveries where status = 'new' and next_attempt_at <= clock_timestamp()`;
const UNKNOWN = `transactions where status = 'processing'`;
/** Charges only: banks may take days to decide a refund. */
const UNKNOWN_CHARGES = `${UNKNOWN} and original_transaction_id is null`;

/** Days of use are dates in UTC. */
const ROLLED_KEYS_IN_USE = `
  api_keys where revoked is null and expires > clock_timestamp() and expires < clock_timestamp() + interval '1 day'
  and last_used > cast(rolled at time zone 'UTC' as date)
  and last_used >= cast(clock_timestamp() at time zone 'UTC' as date) - 1`;

/** When the record was made. */
const MADE = '(select min(migration_time) from knex_migrations)';

const FIND_FIGURES = `
  select ${countOf(UNKNOWN, 10_000)} as unknown_outcomes, ${ageOf(`min(modified) from ${UNKNOWN_CHARGES}`)} as unknown_outcome_age,
    ${countOf('search_outbox', 100_000)} as outbox_rows,
    ${ageOf('changed from search_outbox order by id limit 1')} as outbox_age,
    ${countOf('search_refusals', 10_000)} as refused_orders,
    ${countOf(DUE, 100_000)} as deliveries_due, ${ageOf(`min(next_attempt_at) from ${DUE}`)} as delivery_age,
    ${countOf(ROLLED_KEYS_IN_USE, 10_000)} as rolled_keys_in_use,
    (select extract(epoch from clock_timestamp() - min(checked_until))::float8 from recovery_progress) as recovery_behind,
    ${ageOf(`coalesce((select coalesce(checked_until, began) from audit_progress), ${MADE})`)} as audit_behind,
    ${ageOf('fetched from settlement_progress')} as settlements_behind,
    ${ARCHIVE_AGE} as archive_age, ${ARCHIVE_FAILS} as archive_fails, ${BACKUP_CHECK_AGE} as backup_check_age`;

/** The figures now. Each part reads an index, and no more rows than its limit. */
export async function findFigures(db: Database): Promise<Figures> {
  return await requireRow<Figures>(db, FIND_FIGURES);
}

/** When the first of the rolled keys and secrets of a kind ends that still works, epoch seconds. */
export interface RolledEnd {
  kind: 'api_key' | 'client_secret' | 'webhook_secret';
  ends_at: number;
}

/** For each kind of secret, when the first of those that were rolled and still work expires. */
export async function findRolledEnds(db: Database): Promise<RolledEnd[]> {
  const first = (kind: RolledEnd['kind'], expires: string, rows: string) =>
    `select '${kind}' as kind, min(${expires}) as expires from ${rows} and ${expires} > clock_timestamp()`;
  return await queryRows<RolledEnd>(
    db,
    `select kind, extract(epoch from expires)::float8 as ends_at from (
       ${first('api_key', 'expires', 'api_keys where revoked is null')}
       union all ${first('client_secret', 'previous_expires', 'oauth_clients where revoked is null')}
       union all ${first('webhook_secret', 'previous_webhook_secret_expires', 'projects where true')}
     ) ends where expires is not null`,
  );
}
