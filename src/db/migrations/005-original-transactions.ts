import type { Knex } from 'knex';
import { buildIndex } from '../build-index';

/** An index cannot be built concurrently in a transaction. */
export const config = { transaction: false };

/** Postgres looks for the follow-up orders of each transaction that is removed with its month (rules 29.8). */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'transactions_original',
    'on transactions (original_transaction_id) where original_transaction_id is not null',
  );
}
