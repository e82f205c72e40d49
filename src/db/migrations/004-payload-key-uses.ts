import type { Knex } from 'knex';

/** Which keys of PAYLOAD_KEYS the processes encrypt with, and until when. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table payload_key_uses (
      key_id text primary key,
      used_until timestamptz not null
    );
  `);
}
