import type { Knex } from 'knex';
import { buildIndex, dropIndex } from '../build-index';

/** An index cannot be built concurrently in a transaction. */
export const config = { transaction: false };

/** Indexes for counts and deletions that would read a whole table, and without those that no statement reads. */
export async function up(knex: Knex): Promise<void> {
  // How many of a recovery's webhooks were delivered, counted without reading them (rules 13.18).
  await buildIndex(
    knex,
    'webhook_deliveries_recovery_delivered',
    "on webhook_deliveries (recovery_id) where status = 'delivered' and recovery_id is not null",
  );
  // The attentions of the orders that an export removes; the id of a webhook begins with that of its order.
  await buildIndex(
    knex,
    'attentions_of_order',
    "on attentions (left(object_id, 36)) where object_kind in ('order', 'webhook')",
  );
  // Recoveries read the failed attempts of their own project only.
  await dropIndex(knex, 'webhook_attempts_failed');
}
