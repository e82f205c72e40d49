import type { Database } from '../../src/db/connection';
import { queryRows } from '../../src/db/connection';
import { until } from './until';

/** Milliseconds from the start of a statement to when its sender has gone. */
const NOT_AFTER_MS = 300;

/** Runs a statement while another transaction holds what `lock` takes, and lets go once `not_after` has passed. */
export async function runBehindLock<T>(
  db: Database,
  lock: string,
  statement: (not_after: number) => Promise<T>,
): Promise<T> {
  const holder = await db.transaction();
  await holder.raw(lock);
  const not_after = Date.now() + NOT_AFTER_MS;
  const outcome = statement(not_after);
  outcome.catch(() => undefined);
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  // Not asked by the holder: within one transaction pg_stat_activity stays as it was seen first.
  await until('the statement waits for the lock', async () => (await queryRows(db, waiting, {})).length > 0);
  await until('its sender has gone', () => Date.now() > not_after + 1);
  await holder.commit();
  return await outcome;
}
