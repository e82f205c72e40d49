import { requireSetting, type Config } from '../config';
import { LIMITS, connectDatabase, type Database } from '../db/connection';
import { checkSession } from '../db/session';
import type { Logger } from '../log';
import { createProcessor, type Processor } from '../processor/client';
import type { SearchServer } from '../search/connection';
import { connectTemporal, type TemporalClient } from '../temporal/connect';
import { credentialsOf } from '../temporal/credentials';

/** Connections of a process, by its configuration. Each throws an Error that names the variable when one is not set. */

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

/** The process's client of Temporal, which connects with its first call; outages are logged. */
export function openTemporal(config: Config, log: Logger): TemporalClient {
  return connectTemporal({
    address: requireSetting(config, 'TEMPORAL_ADDRESS'),
    namespace: config.TEMPORAL_NAMESPACE,
    payload_keys: requireSetting(config, 'PAYLOAD_KEYS'),
    credentials: credentialsOf(config),
    log,
  });
}

/** The process's client of the card processor. */
export function openProcessor(config: Config, log: Logger): Processor {
  return createProcessor({
    url: requireSetting(config, 'PROCESSOR_URL'),
    key: config.PROCESSOR_KEY,
    timeout_ms: config.PROCESSOR_TIMEOUT_MS,
    log,
  });
}

/** Where the search index is. */
export function searchServer(config: Config): SearchServer {
  return { url: requireSetting(config, 'MEILISEARCH_URL'), master_key: config.MEILISEARCH_KEY };
}
