import { randomBytes } from 'node:crypto';
import type { SecretKeys } from '../../secrets';
import { queryRow, queryRows, queryValue, type Database, type SqlTransaction } from '../query';
import { readPage, type ListPage, type PageRequest } from '../pages';
import { SELECT_PROJECT, lockProject, type Project } from './projects';

/** `<mode>_<12 hex: names the row><40 hex: the secret>`. */
const API_KEY = /^(test|live)_([0-9a-f]{12})([0-9a-f]{40})$/;

/** A key `k` of `api_keys` works at the instant `:now`. */
export const KEY_WORKS = 'k.revoked is null and (k.expires is null or k.expires > :now)';

/** An API key without its secret. Instants are ISO 8601 texts in UTC, `last_used` is a date. */
export interface ApiKey {
  id: string;
  project_id: string;
  merchant_id: string;
  is_test: boolean;
  created: string;
  last_used: string | null;
  expires: string | null;
}

/** The owner of an API key. */
export interface KeyOwner {
  project: Project;
  api_key_id: string;
  /** When the key stops working, epoch milliseconds; absent: it does not. */
  expires_at?: number | undefined;
}

/**
 * The project of an API key; `undefined` for one that is wrong, revoked or expired. Secrets are compared in constant
 * time. Records the day of the last use.
 */
export async function findProjectByApiKey(
  { db, secrets }: { db: Database; secrets: SecretKeys },
  api_key: string,
  now: number,
): Promise<KeyOwner | undefined> {
  const [, mode, id, secret] = API_KEY.exec(api_key) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const row = await queryRow<
    Project & { secret_hash: Buffer; secret_key_id: string; expires: string | null; last_used: string | null }
  >(
    db,
    `select k.secret_hash, k.secret_key_id, k.expires, cast(k.last_used as text) as last_used, project.*
     from api_keys k join (${SELECT_PROJECT}) project on project.id = k.project_id
     where k.id = :id and ${KEY_WORKS}`,
    { id, now: new Date(now) },
  );
  if (row === undefined || !secrets.matches(secret, row) || row.is_test !== (mode === 'test')) return undefined;
  const { secret_hash: _hash, secret_key_id: _key, expires, last_used, ...project } = row;
  const today = new Date(now).toISOString().slice(0, 10);
  if (last_used === null || last_used < today) {
    await queryRows(
      db,
      `update api_keys set last_used = cast(:today as date)
       where id = :id and (last_used is null or last_used < cast(:today as date))`,
      { id, today },
    );
  }
  return { project, api_key_id: id, expires_at: expires === null ? undefined : Date.parse(expires) };
}

/** A new key in full. It cannot be shown again: only its hash is kept. */
export function newApiKey({ is_test }: { is_test: boolean }): string {
  return `${is_test ? 'test' : 'live'}_${randomBytes(6).toString('hex')}${randomBytes(20).toString('hex')}`;
}

/** The id of a key, which is also its part that may be shown. Throws when the text is not an API key. */
export function apiKeyId(api_key: string): string {
  const [, , id] = API_KEY.exec(api_key) ?? [];
  if (id === undefined) throw new Error('not an API key of this service');
  return id;
}

/** Repeat-safe: the same key is stored once. Throws when the text is not an API key. */
export async function insertApiKey(
  { db, secrets }: { db: Database; secrets: SecretKeys },
  project_id: string,
  api_key: string,
  now: Date,
): Promise<void> {
  const id = apiKeyId(api_key);
  const secret = api_key.slice(api_key.indexOf(id) + id.length);
  await db('api_keys')
    .insert({ id, project_id, ...secrets.hash(secret), created: now })
    .onConflict('id')
    .ignore();
}

const KEY = `
  select k.id, k.project_id, p.merchant_id, p.is_test, k.created, cast(k.last_used as text) as last_used, k.expires
  from api_keys k join projects p on p.id = k.project_id`;

/** A key that works; `undefined` when there is none. `lock`: until the end of the SQL transaction. */
export async function findApiKey(db: Database, id: string, now: Date, lock?: 'lock'): Promise<ApiKey | undefined> {
  return await queryRow<ApiKey>(db, `${KEY} where k.id = :id and ${KEY_WORKS} ${lock ? 'for update of k' : ''}`, {
    id,
    now,
  });
}

/** The keys of a project that work, newest first. */
export async function listApiKeys(
  db: Database,
  project_id: string,
  now: Date,
  page: PageRequest,
): Promise<ListPage<ApiKey>> {
  return await readPage(db, page, {
    select: `${KEY} where ${KEY_WORKS}`,
    equal: { project_id },
    bindings: { now },
    key: [
      ['created', 'timestamptz'],
      ['id', 'text'],
    ],
  });
}

/**
 * How many keys of a project work. Locks until the end of the SQL transaction, so that the next count includes a key
 * made in it.
 */
export async function countApiKeys(trx: SqlTransaction, project_id: string, now: Date): Promise<number> {
  await lockProject(trx, project_id);
  return await queryValue<number>(
    trx,
    `select count(*)::int as count from api_keys k where k.project_id = :project_id and ${KEY_WORKS}`,
    { project_id, now },
  );
}

/** The key has been rolled: it works until `expires` and no longer. */
export async function expireApiKey(db: Database, id: string, expires: Date, now: Date): Promise<void> {
  await db('api_keys').where({ id }).update({ rolled: now, expires });
}

export async function revokeApiKey(db: Database, id: string, now: Date): Promise<void> {
  await db('api_keys').where({ id }).update({ revoked: now });
}
