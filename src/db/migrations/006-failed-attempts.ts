import type { Knex } from 'knex';
import { buildIndex } from '../build-index';

/** An index cannot be built concurrently in a transaction. */
export const config = { transaction: false };

/** A recovery of webhooks begins with the failed attempts of its time (rules 13.16), which are few among all. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(knex, 'webhook_attempts_failed', 'on webhook_attempts (started) where failure is not null');
}
