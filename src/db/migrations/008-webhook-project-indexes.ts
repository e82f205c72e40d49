import type { Knex } from 'knex';
import { buildIndex } from '../build-index';
import { fillColumn } from '../fill-column';

/** Old rows are filled in batches, and an index cannot be built concurrently in a transaction. */
export const config = { transaction: false };

/** Lists and recoveries of a project's webhooks read its own ones only (rules 13.15, 13.16). */
export async function up(knex: Knex): Promise<void> {
  const of_order = '(select o.project_id from orders o where o.id = t.order_id)';
  await fillColumn(knex, { table: 'webhook_deliveries', key: ['order_id', 'n'], column: 'project_id', value: of_order });
  await fillColumn(knex, {
    table: 'webhook_attempts',
    key: ['order_id', 'n', 'attempt'],
    where: 'failure is not null',
    column: 'project_id',
    value: of_order,
  });
  const position = 'project_id, created, order_id, n';
  await buildIndex(knex, 'webhook_deliveries_project', `on webhook_deliveries (${position})`);
  await buildIndex(
    knex,
    'webhook_deliveries_project_failed',
    `on webhook_deliveries (${position}) where status = 'failed'`,
  );
}
