import type { Knex } from 'knex';

/**
 * The project of a webhook and of a failed attempt, by which they are found without reading those of other projects. The
 * triggers write it where the statement does not: that of an attempt, and those of the release before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhook_deliveries add column project_id uuid;
    -- Of a failed attempt only.
    alter table webhook_attempts add column project_id uuid;

    create function webhook_project_add() returns trigger language plpgsql as $$
    begin
      select project_id into new.project_id from orders where id = new.order_id;
      return new;
    end
    $$;
    create trigger webhook_deliveries_project before insert on webhook_deliveries
      for each row when (new.project_id is null) execute function webhook_project_add();
    create trigger webhook_attempts_project before insert on webhook_attempts
      for each row when (new.project_id is null and new.failure is not null) execute function webhook_project_add();
  `);
}
