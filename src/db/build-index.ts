import type { Knex } from 'knex';
import { MIGRATION_LIMITS } from './session';

/**
 * Builds an index of a large table while the service writes to it. Call it from a migration with `transaction: false`.
 * An index that an interrupted migration left half built is dropped first. The build waits for transactions that are
 * older, such as a backup; nothing waits for the build, so it has no `lock_timeout`. `rest` follows `create index
 * name`.
 */
export async function buildIndex(knex: Knex, name: string, rest: string): Promise<void> {
  const { rows } = (await knex.raw(
    `select from pg_index where indexrelid = to_regclass('${name}') and not indisvalid`,
  )) as { rows: unknown[] };
  if (rows.length > 0) await dropIndex(knex, name);
  await withoutLockLimit(knex, `create index concurrently if not exists ${name} ${rest}`);
}

/** Drops an index while the service uses its table. Like a build it waits for older transactions, and nothing waits for it. */
export async function dropIndex(knex: Knex, name: string): Promise<void> {
  await withoutLockLimit(knex, `drop index concurrently if exists ${name}`);
}

async function withoutLockLimit(knex: Knex, sql: string): Promise<void> {
  await knex.raw('set lock_timeout = 0');
  try {
    await knex.raw(sql);
  } finally {
    await knex.raw(MIGRATION_LIMITS);
  }
}
