import type { ProjectStatus } from '../../domain/transitions';
import { laterModifiedSql, queryRow, queryRows, queryValue, type Database, type SqlTransaction } from '../query';
import { BY_CREATED, readPage, type ListPage, type PageRequest } from '../pages';
import { newWebhookSecret, type WebhookSecretVault } from '../webhooks/webhook-secrets';

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
export interface StoredProject extends Project {
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

const selectProject = (further = '') => `
  select p.id, p.merchant_id, m.name as merchant_name, p.name, p.is_test, p.status, p.payment_methods, p.currencies,
         p.expiration_period, p.transaction_expiration_period, p.capture_expiration_period, p.webhook_url, p.account_funding, p.id_namespace${further}
  from projects p join merchants m on m.id = p.merchant_id`;
/** Selects Project; queries add a `where` or use it as a table. */
export const SELECT_PROJECT = selectProject();
const SELECT_STORED_PROJECT = selectProject(', p.suspended_by, p.created, p.modified');

/** The project; `undefined` when there is none. */
export async function findProject(db: Database, project_id: string): Promise<Project | undefined> {
  return await queryRow<Project>(db, `${SELECT_PROJECT} where p.id = :project_id`, { project_id });
}

/** Locks the project until the end of the SQL transaction, so that one at a time counts what it has of a kind. */
export async function lockProject(trx: SqlTransaction, project_id: string): Promise<void> {
  // Not "for update", which orders of the project would wait for.
  await queryRows(trx, 'select 1 from projects where id = :project_id for no key update', { project_id });
}

/**
 * The project; `undefined` when there is none. `lock`: until the end of the SQL transaction, for a change that orders of
 * the project do not wait for.
 */
export async function findStoredProject(db: Database, id: string, lock?: 'lock'): Promise<StoredProject | undefined> {
  const sql = `${SELECT_STORED_PROJECT} where p.id = :id ${lock ? 'for no key update of p' : ''}`;
  return await queryRow<StoredProject>(db, sql, { id });
}

/** The projects of a merchant, newest first. */
export async function listProjects(
  db: Database,
  merchant_id: string,
  page: PageRequest,
): Promise<ListPage<StoredProject>> {
  return await readPage(db, page, { select: SELECT_STORED_PROJECT, equal: { merchant_id }, key: BY_CREATED });
}

/** How many projects a merchant has. Its locked row makes one at a time count them. */
export async function countProjects(trx: SqlTransaction, merchant_id: string): Promise<number> {
  return await queryValue<number>(trx, 'select count(*)::int as count from projects where merchant_id = :merchant_id', {
    merchant_id,
  });
}

export async function insertProject(
  { db, secrets }: WebhookSecretVault,
  merchant_id: string,
  project: NewProject,
  now: Date,
): Promise<void> {
  await db('projects').insert(newRow(secrets, merchant_id, project, now));
}

/** The fields of a project that can change. */
export type ProjectChange = Partial<
  Omit<StoredProject, 'id' | 'merchant_id' | 'merchant_name' | 'is_test' | 'id_namespace' | 'created' | 'modified'>
>;

export async function updateProject(db: Database, id: string, change: ProjectChange, now: Date): Promise<void> {
  await db('projects')
    .where({ id })
    .update({ ...change, modified: db.raw(laterModifiedSql('projects'), { now }) });
}

/** Inserts a project. Repeat-safe: of an existing one only the webhook address is set, if one is given. */
export async function upsertProject(
  { db, secrets }: WebhookSecretVault,
  merchant_id: string,
  project: NewProject,
  now: Date,
): Promise<void> {
  const inserting = db('projects')
    .insert(newRow(secrets, merchant_id, project, now))
    .onConflict('id');
  await (project.webhook_url === undefined ? inserting.ignore() : inserting.merge(['webhook_url']));
}

function newRow(secrets: WebhookSecretVault['secrets'], merchant_id: string, project: NewProject, now: Date) {
  const given = Object.fromEntries(Object.entries(project).filter(([, value]) => value !== undefined));
  return {
    ...given,
    merchant_id,
    ...newWebhookSecret(secrets, project.id),
    created: now,
    modified: now,
  };
}
