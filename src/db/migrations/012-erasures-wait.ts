import type { Knex } from 'knex';

/**
 * Whether erasures wait for the restore that is under way: they delete the histories that a reconciliation compares the
 * record with (rules 29.6).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table restores add column erasures_wait boolean not null default true');
}
