import { randomBytes } from 'node:crypto';
import { rows, type Database } from './connection';

/** A merchant's project, with the defaults of its orders. */
export interface Project {
  id: string;
  merchant_id: string;
  merchant_name: string;
  name: string;
  is_test: boolean;
  payment_methods: string[];
  currencies: string[];
  /** Validity of an order that names none; ISO 8601. */
  expiration_period: string;
  /** Validity of a transaction that names none, for paying it; ISO 8601. */
  transaction_expiration_period: string;
  /** Window for capturing a manual transaction that names none; ISO 8601. */
  capture_expiration_period: string;
  webhook_url: string | null;
  /** Whether it may load other accounts (rules 14.3). */
  account_funding: boolean;
  /** The ids of objects made with an Idempotency-Key derive from it; a secret of the service. */
  id_namespace: string;
}

/** A new project; its periods are the database's defaults. */
export interface NewProject {
  id: string;
  name: string;
  is_test: boolean;
  payment_methods: string[];
  currencies: string[];
  webhook_url?: string | undefined;
  account_funding?: boolean | undefined;
}

/** Selects Project; queries add a `where` or use it as a table. */
export const PROJECT = `
  select p.id, p.merchant_id, m.name as merchant_name, p.name, p.is_test, p.payment_methods, p.currencies,
         p.expiration_period, p.transaction_expiration_period, p.capture_expiration_period, p.webhook_url, p.account_funding, p.id_namespace
  from projects p join merchants m on m.id = p.merchant_id`;

/** The project; `undefined` when there is none. */
export async function getProject(db: Database, project_id: string): Promise<Project | undefined> {
  const [project] = await rows<Project>(db, `${PROJECT} where p.id = :project_id`, { project_id });
  return project;
}

/** Repeat-safe: an existing merchant stays as it is. */
export async function insertMerchant(db: Database, merchant: { id: string; name: string; now: Date }): Promise<void> {
  await db('merchants')
    .insert({ id: merchant.id, name: merchant.name, created: merchant.now })
    .onConflict('id')
    .ignore();
}

/**
 * Returns the secret that signs the project's webhooks. Repeat-safe: an existing project only takes over the webhook address, the
 * payment methods and account funding.
 */
export async function upsertProject(
  db: Database,
  merchant_id: string,
  project: NewProject,
  now: Date,
): Promise<{ webhook_secret: string }> {
  const [stored] = await db('projects')
    .insert({
      ...project,
      merchant_id,
      webhook_url: project.webhook_url ?? null,
      account_funding: project.account_funding ?? false,
      // Standard Webhooks: whsec_ and the base64 of 24 to 64 random bytes.
      webhook_secret: `whsec_${randomBytes(32).toString('base64')}`,
      created: now,
    })
    .onConflict('id')
    .merge(['webhook_url', 'payment_methods', 'account_funding'])
    .returning<{ webhook_secret: string }[]>('webhook_secret');
  return stored!;
}
