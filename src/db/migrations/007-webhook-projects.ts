import type { Knex } from 'knex';

/** Statements that read both tables would wait for one lock while the migration waits for the other: one at a time. */
export const config = { transaction: false };

/**
 * The project of a webhook and of a failed attempt, by which they are found without reading those of other projects. The
 * triggers write it where the statement does not: that of an attempt, and those of the release before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create or replace function webhook_project_add() returns trigger language plpgsql as $$
    begin
      select project_id into new.project_id from orders where id = new.order_id;
      return new;
    end
    $$`);
  await knex.raw('alter table webhook_deliveries add column if not exists project_id uuid');
  await knex.raw(`
    create or replace trigger webhook_deliveries_project before insert on webhook_deliveries
      for each row when (new.project_id is null) execute function webhook_project_add()`);
  // Of a failed attempt only.
  await knex.raw('alter table webhook_attempts add column if not exists project_id uuid');
  await knex.raw(`
    create or replace trigger webhook_attempts_project before insert on webhook_attempts
      for each row when (new.project_id is null and new.failure is not null) execute function webhook_project_add()`);
}
