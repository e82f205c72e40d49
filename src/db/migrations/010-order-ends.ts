import type { Knex } from 'knex';

/** When an order was cancelled or expired; null for those that ended before this release (rules 23.1). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table orders add column ended_at timestamptz');
}
