import { randomBytes } from 'node:crypto';
import type { ProjectStatus } from '../domain/transitions';
import { queryRows, type Database } from './connection';
import { pageOf, type Page, type PageRequest } from './pages';

/** A merchant's project, with the defaults of its orders. */
export interface Project {
  id: string;
  merchant_id: string;
  merchant_name: string;
  name: string;
  is_test: boolean;
  /** A suspended project takes no new orders, links or payments (rules 21.10). */
  status: ProjectStatus;
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

/** A project as the bearer-token host shows and changes it. Instants are ISO 8601 texts in UTC. */
export interface ProjectRecord extends Project {
  suspended_by: 'operator' | 'merchant' | null;
  created: string;
  modified: string;
}

/** A new project; periods that are absent are the database's defaults. */
export interface NewProject {
  id: string;
  name: string;
  is_test: boolean;
  payment_methods: string[];
  currencies: string[];
  webhook_url?: string | null | undefined;
  account_funding?: boolean | undefined;
  expiration_period?: string | undefined;
  transaction_expiration_period?: string | undefined;
  capture_expiration_period?: string | undefined;
}

/** Selects Project; queries add a `where` or use it as a table. */
export const PROJECT = `
  select p.id, p.merchant_id, m.name as merchant_name, p.name, p.is_test, p.status, p.payment_methods, p.currencies,
         p.expiration_period, p.transaction_expiration_period, p.capture_expiration_period, p.webhook_url, p.account_funding, p.id_namespace
  from projects p join merchants m on m.id = p.merchant_id`;

/** The project; `undefined` when there is none. */
export async function getProject(db: Database, project_id: string): Promise<Project | undefined> {
  const [project] = await queryRows<Project>(db, `${PROJECT} where p.id = :project_id`, { project_id });
  return project;
}

const RECORD = PROJECT.replace('p.id_namespace', 'p.id_namespace, p.suspended_by, p.created, p.modified');

/** The project; `undefined` when there is none. `lock`: until the end of the SQL transaction. */
export async function findProjectRecord(db: Database, id: string, lock?: 'lock'): Promise<ProjectRecord | undefined> {
  const sql = `${RECORD} where p.id = :id ${lock ? 'for update of p' : ''}`;
  const [project] = await queryRows<ProjectRecord>(db, sql, { id });
  return project;
}

/** The projects of a merchant, newest first. */
export async function listProjects(db: Database, merchant_id: string, page: PageRequest): Promise<Page<ProjectRecord>> {
  return await pageOf(
    db,
    {
      select: RECORD,
      where: ['merchant_id = :merchant_id'],
      bindings: { merchant_id },
      order: [
        ['created', 'timestamptz'],
        ['id', 'uuid'],
      ],
    },
    page,
  );
}

export async function insertProject(db: Database, merchant_id: string, project: NewProject, now: Date): Promise<void> {
  await db('projects').insert(newRow(merchant_id, project, now));
}

/** The secrets that sign the webhooks of a project. */
export interface WebhookSecrets {
  secret: string;
  /** When the secret before stops signing too, ISO 8601; null without one. */
  previous_expires: string | null;
}

/** The secrets that sign the project's webhooks at an instant. Throws when there is no such project. */
export async function webhookSecretsOf(db: Database, project_id: string, now: Date): Promise<WebhookSecrets> {
  const [row] = await queryRows<WebhookSecrets>(
    db,
    `select webhook_secret as secret,
       case when previous_webhook_secret_expires > :now then previous_webhook_secret_expires end as previous_expires
     from projects where id = :project_id`,
    { project_id, now },
  );
  if (row === undefined) throw new Error(`project ${project_id} does not exist`);
  return row;
}

/**
 * Replaces the secret; the one before signs too until `expires`, and one that still did from an earlier roll stops at
 * once.
 */
export async function rollWebhookSecret(db: Database, project_id: string, expires: Date): Promise<void> {
  await queryRows(
    db,
    `update projects set webhook_secret = :secret, previous_webhook_secret = webhook_secret,
       previous_webhook_secret_expires = :expires
     where id = :project_id`,
    { project_id, secret: newWebhookSecret(), expires },
  );
}

/** Standard Webhooks: whsec_ and the base64 of 24 to 64 random bytes. */
const newWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** The fields of a project that can change. */
export type ProjectChange = Partial<
  Omit<ProjectRecord, 'id' | 'merchant_id' | 'merchant_name' | 'is_test' | 'id_namespace' | 'created' | 'modified'>
>;

export async function updateProject(db: Database, id: string, change: ProjectChange, now: Date): Promise<void> {
  await db('projects')
    .where({ id })
    .update({ ...change, modified: now });
}

/**
 * Returns the secret that signs the project's webhooks. Repeat-safe: an existing project only takes over the webhook
 * address, the payment methods and account funding.
 */
export async function upsertProject(
  db: Database,
  merchant_id: string,
  project: NewProject,
  now: Date,
): Promise<{ webhook_secret: string }> {
  const [stored] = await db('projects')
    .insert(newRow(merchant_id, project, now))
    .onConflict('id')
    .merge(['webhook_url', 'payment_methods', 'account_funding'])
    .returning<{ webhook_secret: string }[]>('webhook_secret');
  return stored!;
}

function newRow(merchant_id: string, project: NewProject, now: Date) {
  const given = Object.fromEntries(Object.entries(project).filter(([, value]) => value !== undefined));
  return {
    ...given,
    merchant_id,
    webhook_secret: newWebhookSecret(),
    created: now,
    modified: now,
  };
}
