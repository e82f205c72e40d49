import type { Knex } from 'knex';
import { buildIndex } from '../build-index';

/** An index cannot be built concurrently in a transaction. */
export const config = { transaction: false };

/** A report of the orders that were completed in a period reads these only, not all orders of the project. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'orders_project_completed',
    'on orders (project_id, completed) where completed is not null',
  );
}
