import { requireSetting, type Config } from '../config';
import { LIMITS, connectDatabase, type Database } from '../db/connection';
import { checkSession } from '../db/session';

/**
 * The pool of one process, with its share of the connections. Throws when Postgres is unavailable, or not set up as it
 * has to be (rules 24.1, 24.2).
 */
export async function openDatabase(config: Config): Promise<Database> {
  const pool_max = config.POSTGRES_CONNECTIONS_MAX;
  const db = connectDatabase(requireSetting(config, 'POSTGRES_URL'), { pool_max, limits: LIMITS });
  try {
    await checkSession(db, pool_max);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}
