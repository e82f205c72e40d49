import type { Knex } from 'knex';

/** When the processor's settlements were last fetched to the end, for the alert SettlementsBehind (rules 20.19). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table settlement_progress add column fetched timestamptz');
  await knex.raw('update settlement_progress set fetched = clock_timestamp()');
}
