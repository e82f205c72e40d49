import type { Database } from '../../src/db/connection';
import { queryRows } from '../../src/db/connection';
import { until } from './until';

/** Milliseconds from the start of a statement to when its sender has gone. */
const TIME_TO_BEGIN_MS = 300;

/** Runs a statement while another transaction holds what `lock` takes, and lets go once `begin_before` has passed. */
export async function runBehindLock<T>(
  db: Database,
  lock: string,
  statement: (begin_before: number) => Promise<T>,
): Promise<T> {
  const holder = await db.transaction();
  await holder.raw(lock);
  const begin_before = Date.now() + TIME_TO_BEGIN_MS;
  const outcome = statement(begin_before);
  outcome.catch(() => undefined);
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  // Not asked by the holder: within one transaction pg_stat_activity stays as it was seen first.
  await until('the statement waits for the lock', async () => (await queryRows(db, waiting, {})).length > 0);
  await until('its sender has gone', () => Date.now() > begin_before + 1);
  await holder.commit();
  return await outcome;
}
