import type { Knex } from 'knex';

/** The build whose workers do the work of leases and schedules (rules 24.20). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table current_build (
      is_only boolean primary key default true check (is_only),
      -- Null: the workers of the version that an operator has chosen have not started yet.
      build text,
      -- Of the workflows, as Temporal knows it.
      version text not null,
      built_at timestamptz,
      since timestamptz not null,
      -- When a worker of the build last gave up a lease.
      seen_at timestamptz not null
    );

    alter table leases add column build text;
  `);
}
