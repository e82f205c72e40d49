import { DAY_MS } from '../../domain/period';
import { RETAINED, type Retained, type RetentionDays } from '../../domain/retention';
import { toIsoTime } from '../../time';
import { queryRows, type Database } from '../query';

interface RetentionRule {
  /** Rows that one statement changes: far fewer than its time limit allows. */
  batch: number;
  /** The statement; `:before` is the instant, `limit` the number of rows. It returns a row for each that it changed. */
  sql: (limit: number) => string;
}

const deleteFrom = (table: string, select: string) =>
  `delete from ${table} where ctid = any(array(${select})) returning 1`;

/** Deletes the rows of a table whose instant is older. */
const olderRows = (table: string, column: string) => (limit: number) =>
  deleteFrom(table, `select ctid from ${table} where ${column} < :before limit ${limit}`);

/** What goes and what stays (rules 29.1). */
const RULES: Readonly<Record<Retained, RetentionRule>> = {
  request_claims: {
    batch: 10_000,
    sql: olderRows('request_claims', 'claimed'),
  },
  logged_requests: {
    batch: 10_000,
    sql: (limit) =>
      deleteFrom(
        'logged_requests',
        // The oldest of each project are the first of its index.
        `select old.ctid from projects p cross join lateral (
           select r.ctid from logged_requests r where r.project_id = p.id and r.received < :before limit ${limit}
         ) old limit ${limit}`,
      ),
  },
  receiver_checks: {
    batch: 1_000,
    sql: olderRows('receiver_checks', 'created'),
  },
  webhook_events: {
    batch: 10_000,
    sql: olderRows('webhook_events', 'created'),
  },
  // The key, the hash of its request, the status and the id of the object stay: a repeat is still answered once.
  idempotency_answers: {
    batch: 2_000,
    sql: (limit) => `
      update idempotency_keys set body = null where ctid = any(array(
        select ctid from idempotency_keys
        where created < :before and object_id is not null and body is not null limit ${limit}
      )) returning 1`,
  },
  // The delivery and its status stay. The attempts of an open one are still counted.
  webhook_attempts: {
    batch: 10_000,
    sql: (limit) =>
      deleteFrom(
        'webhook_attempts',
        `select a.ctid from webhook_attempts a join webhook_deliveries d using (order_id, n)
         where a.started < :before and d.next_attempt_at is null limit ${limit}`,
      ),
  },
};

/**
 * Removes what is older than an instant, epoch milliseconds, in as many statements as it takes. `mayGoOn`: asked before
 * each; with `false` the rest stays for another time. Returns the rows.
 */
export async function removeOld(
  db: Database,
  name: Retained,
  before: number,
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  const { batch, sql } = RULES[name];
  const statement = sql(batch);
  for (let removed = 0; ;) {
    if (!mayGoOn()) return removed;
    const rows = await queryRows(db, statement, { before: toIsoTime(before) });
    removed += rows.length;
    if (rows.length < batch) return removed;
  }
}

interface RetentionOptions {
  mayGoOn?: () => boolean;
  last?: readonly Retained[];
  failed?: (name: Retained, error: unknown) => void;
}

/**
 * Removes everything that was kept for its days. `now` in epoch milliseconds. `mayGoOn`: asked before each statement.
 * `last`: what is removed after all others, in this order. `failed`: told of an error; the others are removed all the
 * same. Returns how many rows of each.
 */
export async function applyRetention(
  db: Database,
  days: RetentionDays,
  now: number,
  { mayGoOn, last = [], failed }: RetentionOptions = {},
): Promise<Partial<Record<Retained, number>>> {
  const removed: Partial<Record<Retained, number>> = {};
  for (const name of [...RETAINED.filter((one) => !last.includes(one)), ...last]) {
    try {
      const rows = await removeOld(db, name, now - days[name] * DAY_MS, mayGoOn);
      if (rows > 0) removed[name] = rows;
    } catch (error) {
      if (failed === undefined) throw error;
      failed(name, error);
    }
  }
  return removed;
}
