import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '../../src/db/connection';
import type { Database } from '../../src/db/query';
import { storeSession } from '../../src/db/session';
import { withDatabaseName } from '../../test/support/database';
import type { RunningStack } from '../../test/support/stack';

/** A backup of a running stack's record: a copy of its database on the same server. */

type RecordOf = Pick<RunningStack, 'postgres_url'>;

/** Copies the record's database. Its processes lose their connections for that long. */
export async function copyRecord({ postgres_url }: RecordOf): Promise<void> {
  await withoutConnections(postgres_url, async (server) => {
    await server.raw('create database payments_copy template payments');
  });
}

/** Puts the copy in the place of the record's database: what was written since is gone. */
export async function restoreCopy({ postgres_url }: RecordOf): Promise<void> {
  await withoutConnections(postgres_url, async (server) => {
    await server.raw('alter database payments rename to payments_lost');
    await server.raw('alter database payments_copy rename to payments');
  });
  // Time limits belong to the role in the database.
  await withDatabase(postgres_url, storeSession);
}

async function withoutConnections(postgres_url: string, work: (server: Database) => Promise<void>): Promise<void> {
  await withDatabase(withDatabaseName(postgres_url, 'postgres'), async (server) => {
    await server.raw('alter database payments with allow_connections false');
    await server.raw(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'payments'`);
    await sleep(200);
    await work(server);
    await server.raw('alter database payments with allow_connections true');
  });
}
