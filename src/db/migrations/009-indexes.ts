import type { Knex } from 'knex';
import { buildIndex, dropIndex } from '../build-index';

/** An index cannot be built concurrently in a transaction. */
export const config = { transaction: false };

/** What is read of a large table is found without reading all of it. */
export async function up(knex: Knex): Promise<void> {
  // The open webhooks of a project, without those of others (rules 13.15, 13.16).
  await buildIndex(
    knex,
    'webhook_deliveries_project_open',
    "on webhook_deliveries (project_id, created, order_id, n) where status in ('new', 'paused')",
  );
  // Those that a recovery has sent and that have no answer yet.
  await buildIndex(
    knex,
    'webhook_deliveries_recovery_new',
    "on webhook_deliveries (recovery_id) where status = 'new' and recovery_id is not null",
  );
  // The last attempts of failed webhooks.
  await buildIndex(
    knex,
    'webhook_attempts_project_ended',
    'on webhook_attempts (project_id, started) include (order_id, n) where attempt = 10 and failure is not null',
  );
  // By time: summaries of blocks include all that no vacuum has summarized, and blocks that are written again.
  await buildIndex(knex, 'webhook_attempts_by_start', 'on webhook_attempts (started)');
  await buildIndex(
    knex,
    'transaction_events_accepted',
    "on transaction_events (occurred) where event = 'accepted'",
  );
  await buildIndex(knex, 'audit_trail_at', 'on audit_trail (at, n)');
  await dropIndex(knex, 'webhook_attempts_project_failed');
  await dropIndex(knex, 'webhook_attempts_started');
  await dropIndex(knex, 'transaction_events_occurred');
}
