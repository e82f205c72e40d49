import { randomBytes } from 'node:crypto';
import { connectDatabase, type Database } from '../../src/db/connection';
import { migrate } from '../../src/db/migrate';
import { insertMerchant } from '../../src/db/merchants';
import { upsertProject } from '../../src/db/projects';
import { stack } from './stack';

export const PROJECT = {
  id: '0190c000-0000-7000-8000-00000000aaaa',
  merchant_id: '0190c000-0000-7000-8000-00000000bbbb',
  currencies: ['EUR', 'USD', 'JPY'],
  payment_methods: ['credit-card'],
};

export interface TestDatabase {
  db: Database;
  url: string;
  /** Every statement since `forget()`. */
  statements: string[];
  forget(): void;
  close(): Promise<void>;
}

/** A database of its own on the cluster of the test run, or on another, with the schema and one test project. */
export async function createTestDatabase(
  options: { webhook_url?: string; postgres_url?: string } = {},
): Promise<TestDatabase> {
  const url = new URL(options.postgres_url ?? stack().postgres_url);
  const name = `test_${randomBytes(6).toString('hex')}`;
  url.pathname = `/${name}`;
  await migrate(url.toString());
  const statements: string[] = [];
  const db = connectDatabase(url.toString(), {
    pool_max: 5,
    onStatement: (sql) => statements.push(sql),
    // A server of a test's own is there to be killed.
    quiet: options.postgres_url !== undefined,
  });
  const merchant = { id: PROJECT.merchant_id, name: 'Test Books', country: 'NL', default_currency: 'EUR' };
  await insertMerchant(db, merchant, new Date(0));
  await upsertProject(
    db,
    PROJECT.merchant_id,
    {
      id: PROJECT.id,
      name: 'Test project',
      is_test: true,
      currencies: PROJECT.currencies,
      payment_methods: PROJECT.payment_methods,
      webhook_url: options.webhook_url,
    },
    new Date(0),
  );
  return { db, url: url.toString(), statements, forget: () => statements.splice(0), close: () => db.destroy() };
}
