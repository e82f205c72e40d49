import type { Knex } from 'knex';

/** The Idempotency-Keys of merchants, so that a repeat does nothing twice (rules 11.2). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Ids of objects that are made with an Idempotency-Key derive from the key and this namespace. Nobody outside knows it: with
    -- an id the hosted page is open, and keys are often as easy to guess as order numbers.
    alter table projects add column id_namespace uuid not null default gen_random_uuid();

    -- A row lives as long as what was made with it. It is there before the request does anything that lasts.
    create table idempotency_keys (
      project_id uuid not null references projects,
      key text not null check (length(key) between 1 and 255),
      -- SHA-256 of the request's method, path and body.
      request_hash bytea not null,
      -- The first answer; null until it is known.
      status smallint,
      body json,
      created timestamptz not null,
      primary key (project_id, key),
      check ((status is null) = (body is null))
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table idempotency_keys; alter table projects drop column id_namespace');
}
