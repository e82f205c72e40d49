import { PROBE_TIMEOUT_MS } from '../http-server';
import { localApiUrl, localManageUrl, processorSecret, requireSetting, type Config } from '../config';
import { checkWritable } from '../db/availability';
import { LIMITS, connectDatabase, observePool } from '../db/connection';
import type { Database } from '../db/query';
import { checkSchema } from '../db/migrate';
import { checkPrimary, checkSession } from '../db/session';
import type { Logger } from '../log';
import { createProcessorClient, type Processor } from '../processor/client';
import type { SearchServer } from '../search/connection';
import { connectTemporal, type TemporalClient } from '../temporal/connect';
import { credentialsOf } from '../temporal/credentials';
import { traceCalls } from '../tracing/spans';
import { isTracing } from '../tracing/tracing';

/** An API uses one in this many connections for searches, lists and reports. */
const BULK_SHARE = 5;

/** Opens the connections of a process from its configuration. Throws an Error that names a missing variable. */

/** A pool for the record. It connects with its first statement. */
export function recordPool(config: Config, options: Parameters<typeof connectDatabase>[1]): Database {
  const password_file = config.POSTGRES_PASSWORD_FILE;
  return connectDatabase(requireSetting(config, 'POSTGRES_URL'), { ...options, password_file });
}

/**
 * The pool of one process, with its share of the connections. Throws when Postgres is unavailable, not set up as it has
 * to be (rules 24.1, 24.2), a standby, or without a migration of this version (rules 24.22).
 */
export async function openDatabase(config: Config, pool_max = config.POSTGRES_CONNECTIONS_MAX): Promise<Database> {
  const db = recordPool(config, { pool_max, limits: LIMITS });
  try {
    await checkPrimary(db);
    await checkSession(db, config.POSTGRES_CONNECTIONS_MAX);
    await checkSchema(db);
    observePool(db, 'main');
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}

/** The pools of an HTTP host. */
export interface HostDatabases {
  db: Database;
  /** One connection, for the readiness probe: a host that uses all others is ready (rules 2.7). */
  probe: Database;
  /** Of the API only: for searches, lists and reports, which payments do not wait for (rules 20.22). */
  bulk?: { db: Database; connections: number };
}

/** As openDatabase; both pools together have the share of one process, or `connections` of it. */
export async function openHostDatabases(
  config: Config,
  connections = config.POSTGRES_CONNECTIONS_MAX,
): Promise<HostDatabases> {
  const db = await openDatabase(config, connections - 1);
  // A statement without an answer ends with its probe, so that the next one has a new connection.
  const limits = { connection: PROBE_TIMEOUT_MS, silence: PROBE_TIMEOUT_MS };
  const probe = recordPool(config, { pool_max: 1, limits });
  observePool(probe, 'probe');
  return { db, probe };
}

/** As openDatabase; all pools together have the share of one process. */
export async function openApiDatabases(config: Config): Promise<Required<HostDatabases>> {
  const connections = Math.floor(config.POSTGRES_CONNECTIONS_MAX / BULK_SHARE) || 1;
  const { db, probe } = await openHostDatabases(config, config.POSTGRES_CONNECTIONS_MAX - connections);
  const bulk = recordPool(config, { pool_max: connections, limits: LIMITS });
  observePool(bulk, 'bulk');
  return { db, probe, bulk: { db: bulk, connections } };
}

/**
 * The process's client of Temporal, which connects with its first call. Outages are logged; with `db` the log tells an
 * outage of the database from one of the workers.
 */
export function openTemporal(config: Config, log: Logger, db?: Database): TemporalClient {
  return connectTemporal({
    address: requireSetting(config, 'TEMPORAL_ADDRESS'),
    namespace: config.TEMPORAL_NAMESPACE,
    payload_keys: requireSetting(config, 'PAYLOAD_KEYS'),
    credentials: credentialsOf(config),
    log,
    ...(db && { checkDatabase: () => checkWritable(db) }),
  });
}

/** The process's client of the card processor. */
export function openProcessor(config: Config, log: Logger): Processor {
  const processor = createProcessorClient({
    url: requireSetting(config, 'PROCESSOR_URL'),
    key: processorSecret(config, 'PROCESSOR_KEY'),
    timeout_ms: config.PROCESSOR_TIMEOUT_MS,
    log,
    log_operations: config.LOG_REQUESTS === 'all',
  });
  return isTracing() ? traceCalls('processor', processor) : processor;
}

/** Where the search index is. */
export function searchServer(config: Config): SearchServer {
  return { url: requireSetting(config, 'MEILISEARCH_URL'), master_key: config.MEILISEARCH_KEY };
}

/** Address at which merchants and customers reach the API, without a slash at its end. */
export function publicUrl(config: Config): string {
  return (config.PUBLIC_URL ?? localApiUrl(config)).replace(/\/$/, '');
}

/** Address at which clients reach the bearer-token host, without a slash at its end. */
export function managePublicUrl(config: Config): string {
  return (config.MANAGE_PUBLIC_URL ?? localManageUrl(config)).replace(/\/$/, '');
}
