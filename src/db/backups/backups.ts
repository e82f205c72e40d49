import { codeOf } from '../availability';
import { queryColumn, queryRow, queryRows, queryValue, requireRow, type Database } from '../query';

/** What Postgres and the audit trail know of backups of the record, and what is looked at in a restored copy. */

const ARCHIVES = `current_setting('archive_mode') <> 'off'`;

/**
 * Time since Postgres last archived its log, in seconds; null where it archives none. Before the first file, and when a
 * crash has lost the statistics, time counts from the later of the start of the server and of its statistics.
 */
export const ARCHIVE_AGE = `
  (select extract(epoch from clock_timestamp() - coalesce(last_archived_time,
     greatest(stats_reset, pg_postmaster_start_time())))::float8 from pg_stat_archiver where ${ARCHIVES})`;

const FAILS = `last_failed_time is not null and last_failed_time > coalesce(last_archived_time, '-infinity')`;
/** Whether its last attempt failed: 1 or 0; null where it archives none. */
export const ARCHIVE_FAILS = `(select (${FAILS})::int from pg_stat_archiver where ${ARCHIVES})`;

/** The object of the checks in the audit trail, and their action. */
export const BACKUP_OBJECT = { kind: 'backup', id: 'backup' } as const;
export const BACKUP_CHECK = 'backup.check';
const CHECKS = `audit_trail where object_id = '${BACKUP_OBJECT.id}' and action = '${BACKUP_CHECK}'`;

const OF_RECORD = `${CHECKS} and after ->> 'of_record' = 'true'`;
const LAST_PASSED = `(select at from ${OF_RECORD} and after ->> 'passed' = 'true' order by n desc limit 1)`;
const ageOf = (instant: string) => `(extract(epoch from clock_timestamp() - ${instant})::float8)`;

/**
 * Time since a check of a backup of the record last passed, in seconds, or since the first check where none has; null
 * before the first.
 */
export const BACKUP_CHECK_AGE = ageOf(`coalesce(${LAST_PASSED}, (select at from ${OF_RECORD} order by n limit 1))`);

/** How Postgres archives its log. */
export interface Archive {
  is_on: boolean;
  /** Seconds; null where it is off. */
  age: number | null;
  fails: number | null;
  /** Failed attempts since the statistics began, and the file of the last one. */
  failed_count: number;
  last_failed_wal: string | null;
  last_archived_wal: string | null;
  live_projects: number;
}

export async function findArchive(db: Database): Promise<Archive> {
  return await requireRow<Archive>(
    db,
    `select ${ARCHIVES} as is_on, ${ARCHIVE_AGE} as age, ${ARCHIVE_FAILS} as fails,
       failed_count, last_failed_wal, last_archived_wal,
       (select count(*)::int from projects where not is_test) as live_projects
     from pg_stat_archiver`,
  );
}

/** The last check of a backup of the record; of another, where none was of the record. */
export interface LastBackupCheck {
  passed: boolean;
  /** ISO 8601. */
  at: string;
  /** Seconds since a backup of the record last passed; null where none has. */
  age: number | null;
}

/** `undefined` before the first check of any backup. */
export async function findLastBackupCheck(db: Database): Promise<LastBackupCheck | undefined> {
  return await queryRow<LastBackupCheck>(
    db,
    `select after ->> 'passed' = 'true' as passed, at, ${ageOf(LAST_PASSED)} as age
     from ${CHECKS} order by after ->> 'of_record' = 'true' desc, n desc limit 1`,
  );
}

/** The running server: the database of the record, and how far it has archived its log. */
export interface Archived {
  record: string;
  /** The same in every copy of a server's files. */
  system_identifier: string;
  /** Where the last archived file begins, in bytes of the log; null where nothing is archived. */
  archived_from: number | null;
  last_archived_wal: string | null;
}

export async function findArchived(db: Database): Promise<Archived> {
  const { segment_bytes, ...archived } = await requireRow<Archived & { segment_bytes: number }>(
    db,
    `select cast(current_database() as text) as record,
       (select cast(system_identifier as text) from pg_control_system()) as system_identifier,
       pg_size_bytes(current_setting('wal_segment_size')) as segment_bytes,
       (select last_archived_wal from pg_stat_archiver where ${ARCHIVES}) as last_archived_wal`,
  );
  return { ...archived, archived_from: beginOf(archived.last_archived_wal, segment_bytes) };
}

/**
 * Where a file of the log begins, by its name: timeline, number of 4 GiB, and number of the file within these. A file
 * that is not complete (.partial) and the history of a timeline count as none.
 */
function beginOf(file: string | null, segment_bytes: number): number | null {
  const [, high, low] = /^[0-9A-F]{8}([0-9A-F]{8})([0-9A-F]{8})(?!\.partial)/.exec(file ?? '') ?? [];
  return high === undefined || low === undefined
    ? null
    : parseInt(high, 16) * 2 ** 32 + parseInt(low, 16) * segment_bytes;
}

/** SQLSTATE: the server is starting, or replays its log. */
const CANNOT_CONNECT_NOW = '57P03';

/** Whether a server accepts connections yet. Throws if it cannot be reached. */
export async function acceptsConnections(db: Database): Promise<boolean> {
  return await queryRows(db, 'select 1').then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === CANNOT_CONNECT_NOW) return false;
      throw error;
    },
  );
}

/** A restored server. */
export interface Restored {
  system_identifier: string;
  /** Until where its log was replayed, in bytes; null if none was. */
  replayed_to: number | null;
  /** The instant of the last commit in the log, epoch milliseconds; null if none was replayed. */
  newest_commit: number | null;
  databases: string[];
}

export async function findRestored(db: Database): Promise<Restored> {
  return await requireRow<Restored>(
    db,
    `select (select cast(system_identifier as text) from pg_control_system()) as system_identifier,
       (pg_last_wal_replay_lsn() - '0/0')::float8 as replayed_to,
       floor(extract(epoch from pg_last_xact_replay_timestamp()) * 1000)::float8 as newest_commit,
       array(select cast(datname as text) from pg_database where not datistemplate) as databases`,
  );
}

/** The file of a table, an index or the like. */
export interface RelationFile {
  relation: string;
  /** The first one, below the data folder. */
  file: string;
  /** Whether it ends where one of its files of 1 GiB does, and had more pages when it was last vacuumed. */
  is_cut: boolean;
}

/** Those of a database. Temporary tables belong to sessions of the running server. */
export async function relationFiles(db: Database): Promise<RelationFile[]> {
  return await queryRows(
    db,
    `select cast(c.oid::regclass as text) as relation, pg_relation_filepath(c.oid) as file,
       -- What is not logged is empty after a restore.
       c.relpersistence = 'p' and c.relpages > pg_relation_size(c.oid) / current_setting('block_size')::int
         and pg_relation_size(c.oid) % pg_size_bytes(current_setting('segment_size')) = 0 as is_cut
     from pg_class c where c.relpersistence <> 't' and pg_relation_filepath(c.oid) is not null order by 1`,
  );
}

/**
 * The tables of a database with the numbers of their rows; a text says why a table cannot be read. Counting them would
 * read an index alone, and no value that is kept apart from its row: copying reads all.
 */
export async function countRows(db: Database): Promise<Record<string, number | string>> {
  const tables = await queryRows<{ name: string }>(
    db,
    `select cast(c.oid::regclass as text) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and c.relpersistence <> 't' and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const counts: Record<string, number | string> = {};
  for (const { name } of tables) {
    counts[name] = await db.raw(`copy ${name} to '/dev/null'`).then(
      ({ rowCount }: { rowCount: number }) => rowCount,
      // knex puts the statement before the text.
      (error: unknown) => (error as Error).message.replace(/^.* - /, ''),
    );
  }
  return counts;
}

/** The foreign keys of a database with rows whose parent is missing, in words. */
export async function brokenReferences(db: Database): Promise<string[]> {
  const keys = await queryRows<{ name: string; missing: string }>(
    db,
    `select k.conname as name, format('select count(*) as rows from %s c where %s and not exists (select from %s p where %s)',
       k.conrelid::regclass, string_agg(format('c.%I is not null', own.attname), ' and '), k.confrelid::regclass,
       string_agg(format('p.%I = c.%I', other.attname, own.attname), ' and ')) as missing
     from pg_constraint k, unnest(k.conkey, k.confkey) pair (own, other)
       join pg_attribute own on own.attnum = pair.own join pg_attribute other on other.attnum = pair.other
     where k.contype = 'f' and own.attrelid = k.conrelid and other.attrelid = k.confrelid
     group by k.oid, k.conname, k.conrelid, k.confrelid order by 1`,
  );
  const broken: string[] = [];
  for (const { name, missing } of keys) {
    const rows = await queryValue<number>(db, missing);
    if (rows > 0) broken.push(`${rows} rows break ${name}`);
  }
  return broken;
}

/** The currencies in which amounts of payments differ from those of their captures, voids and refunds, in words. */
export async function wrongSums(db: Database): Promise<string[]> {
  return await queryColumn<string>(
    db,
    `with moved as (
       select f.original_transaction_id as id, sum(f.amount) filter (where o.kind = 'capture') as captured,
         sum(f.amount) filter (where o.kind = 'void') as voided, sum(f.amount) filter (where o.kind = 'refund') as refunded
       from transactions f join orders o on o.id = f.order_id where o.status = 'completed' and o.kind <> 'payment' group by 1
     ), sums as (
       select t.currency,
         coalesce(sum(t.captured_amount) filter (where t.capture_mode is not null), 0) as captured,
         coalesce(sum(m.captured) filter (where t.capture_mode is not null), 0) as captured_by_orders,
         coalesce(sum(t.voided_amount) filter (where t.capture_mode is not null), 0) as voided,
         coalesce(sum(m.voided) filter (where t.capture_mode is not null), 0) as voided_by_orders,
         sum(t.refunded_amount) as refunded, coalesce(sum(m.refunded), 0) as refunded_by_orders
       from transactions t left join moved m on m.id = t.id where t.original_transaction_id is null group by 1
     )
     select format('%s: captured %s, voided %s, refunded %s; by the orders %s, %s, %s', currency, captured, voided,
       refunded, captured_by_orders, voided_by_orders, refunded_by_orders) as words
     from sums where (captured, voided, refunded) <> (captured_by_orders, voided_by_orders, refunded_by_orders)`,
  );
}
