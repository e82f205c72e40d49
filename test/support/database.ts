import { randomBytes } from 'node:crypto';
import { connectDatabase, type Database } from '../../src/db/connection';
import { migrate } from '../../src/db/migrate';
import { insertMerchant } from '../../src/db/projects/merchants';
import { upsertProject } from '../../src/db/projects/projects';
import { storeSession } from '../../src/db/session';
import { secrets } from './secrets';
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

/** A database with the schema that nobody uses: a copy of it takes a quarter of the time of the migrations. */
const TEMPLATE = 'template_of_tests';

/** Makes the template on a cluster, once for the run. */
export async function createTemplate(postgres_url: string): Promise<void> {
  await migrate(withDatabaseName(postgres_url, TEMPLATE));
}

function withDatabaseName(postgres_url: string, name: string): string {
  const url = new URL(postgres_url);
  url.pathname = `/${name}`;
  return url.toString();
}

async function copyTemplate(postgres_url: string, name: string): Promise<void> {
  await withConnection(postgres_url, (server) => server.raw('create database ?? template ??', [name, TEMPLATE]));
  // Stored with the role in a database, which a copy does not have.
  await withConnection(withDatabaseName(postgres_url, name), storeSession);
}

async function withConnection(postgres_url: string, work: (db: Database) => Promise<unknown>): Promise<void> {
  const db = connectDatabase(postgres_url, { pool_max: 1 });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

/** A database of its own on the cluster of the test run, or on another, with the schema and one test project. */
export async function createTestDatabase(
  options: { webhook_url?: string; postgres_url?: string } = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = withDatabaseName(options.postgres_url ?? stack().postgres_url, name);
  if (options.postgres_url === undefined) await copyTemplate(stack().postgres_url, name);
  else await migrate(url);
  const statements: string[] = [];
  const db = connectDatabase(url, {
    pool_max: 5,
    onStatement: (sql) => statements.push(sql),
    // A server of a test's own is there to be killed.
    quiet: options.postgres_url !== undefined,
  });
  const merchant = { id: PROJECT.merchant_id, name: 'Test Books', country: 'NL', default_currency: 'EUR' };
  await insertMerchant(db, merchant, new Date(0));
  await upsertProject(
    { db, secrets },
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
  return { db, url, statements, forget: () => statements.splice(0), close: () => db.destroy() };
}
