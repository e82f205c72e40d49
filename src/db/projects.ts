import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { rows, type Database } from './connection';

/** A project as an API key finds it (specification, What the service does). */
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
  /** Validity of a transaction that names none, for paying it. */
  transaction_expiration_period: string;
  /** Window for capturing a manual transaction that names none. */
  capture_expiration_period: string;
  webhook_url: string | null;
  /** Whether it may load other accounts (specification, Account funding, rule 5). */
  account_funding: boolean;
  /** What ids of objects derive from that are made with an Idempotency-Key; a secret of the service. */
  id_namespace: string;
}

export interface NewProject {
  id: string;
  name: string;
  is_test: boolean;
  payment_methods: string[];
  currencies: string[];
  webhook_url?: string | undefined;
  account_funding?: boolean | undefined;
}

const PROJECT = `
  select p.id, p.merchant_id, m.name as merchant_name, p.name, p.is_test, p.payment_methods, p.currencies,
         p.expiration_period, p.transaction_expiration_period, p.capture_expiration_period, p.webhook_url, p.account_funding, p.id_namespace
  from projects p join merchants m on m.id = p.merchant_id`;

/** `<mode>_<12 hex: names the row><40 hex: the secret>`. */
const API_KEY = /^(test|live)_([0-9a-f]{12})([0-9a-f]{40})$/;

const hashOf = (secret: string) => createHash('sha256').update(secret).digest();

/** The project of an API key, `undefined` for a wrong or revoked one. Secrets are compared in constant time. */
export async function findProjectByApiKey(db: Database, api_key: string): Promise<Project | undefined> {
  const [, mode, id, secret] = API_KEY.exec(api_key) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const [row] = await rows<Project & { secret_hash: Buffer }>(
    db,
    `select k.secret_hash, project.* from api_keys k join (${PROJECT}) project on project.id = k.project_id
     where k.id = :id and k.revoked is null`,
    { id },
  );
  if (row === undefined || !timingSafeEqual(row.secret_hash, hashOf(secret)) || row.is_test !== (mode === 'test')) return undefined;
  const { secret_hash: _, ...project } = row;
  return project;
}

export async function getProject(db: Database, project_id: string): Promise<Project | undefined> {
  const [project] = await rows<Project>(db, `${PROJECT} where p.id = :project_id`, { project_id });
  return project;
}

/** Repeat-safe: a merchant that is there stays as it is. */
export async function insertMerchant(db: Database, merchant: { id: string; name: string; now: Date }): Promise<void> {
  await db('merchants').insert({ id: merchant.id, name: merchant.name, created: merchant.now }).onConflict('id').ignore();
}

/** Repeat-safe; of a project that is there only the webhook address, the payment methods and account funding follow the call. */
export async function insertProject(db: Database, merchant_id: string, project: NewProject, now: Date): Promise<void> {
  await db('projects')
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
    .merge(['webhook_url', 'payment_methods', 'account_funding']);
}

/** A new key in full, which nothing shows again: only its hash is kept. */
export function newApiKey({ is_test }: { is_test: boolean }): string {
  return `${is_test ? 'test' : 'live'}_${randomBytes(6).toString('hex')}${randomBytes(20).toString('hex')}`;
}

/** Repeat-safe: the same key again is no second row. Throws when the text is no API key. */
export async function insertApiKey(db: Database, project_id: string, api_key: string, now: Date): Promise<void> {
  const [, , id, secret] = API_KEY.exec(api_key) ?? [];
  if (id === undefined || secret === undefined) throw new Error('not an API key of this service');
  await db('api_keys').insert({ id, project_id, secret_hash: hashOf(secret), created: now }).onConflict('id').ignore();
}
