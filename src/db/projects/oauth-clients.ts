import type { HashedSecret } from '../../secrets';
import { hasRows, queryRow, queryRows, type Database } from '../query';
import { readPage, type ListPage, type PageRequest } from '../pages';

/** An operator sees and changes everything, a merchant's client only the objects of the merchant (rules 21.6). */
export type Role = 'operator' | 'merchant';

/** A client of the bearer-token host without its secrets. Instants are ISO 8601 texts in UTC, `last_used` is a date. */
export interface OAuthClient {
  client_id: string;
  name: string;
  role: Role;
  merchant_id: string | null;
  created: string;
  last_used: string | null;
  /** When the secret before the current one stops working; null without one. */
  expires: string | null;
}

export type NewOAuthClient = Pick<OAuthClient, 'client_id' | 'name' | 'role' | 'merchant_id'>;

/** The secret before the current one works at the instant `:now`; of a client that is not revoked. */
export const PREVIOUS_SECRET_WORKS = 'previous_expires > :now';

const CLIENT = `
  select client_id, name, role, merchant_id, created, cast(last_used as text) as last_used,
         case when ${PREVIOUS_SECRET_WORKS} then previous_expires end as expires
  from oauth_clients where revoked is null`;

/** Repeat-safe: an existing client stays as it is. */
export async function insertOAuthClient(
  db: Database,
  client: NewOAuthClient,
  secret: HashedSecret,
  now: Date,
): Promise<void> {
  await db('oauth_clients')
    .insert({ ...client, ...secret, created: now })
    .onConflict('client_id')
    .ignore();
}

/** A client that is not revoked; `undefined` when there is none. `lock`: until the end of the SQL transaction. */
export async function findOAuthClient(
  db: Database,
  client_id: string,
  now: Date,
  lock?: 'lock',
): Promise<OAuthClient | undefined> {
  const sql = `${CLIENT} and client_id = :client_id ${lock ? 'for update' : ''}`;
  return await queryRow<OAuthClient>(db, sql, { client_id, now });
}

/** The hashes of the client's secrets that work; none for a client that does not exist or is revoked. */
export async function secretsOfClient(db: Database, client_id: string, now: Date): Promise<HashedSecret[]> {
  return await queryRows<HashedSecret>(
    db,
    `select secret_hash, secret_key_id from oauth_clients where client_id = :client_id and revoked is null
     union all
     select previous_secret_hash, previous_secret_key_id from oauth_clients
     where client_id = :client_id and revoked is null and ${PREVIOUS_SECRET_WORKS}`,
    { client_id, now },
  );
}

/**
 * Replaces the secret. The previous secret works until `expires`; one that still works from an earlier roll stops at
 * once.
 */
export async function rollClientSecret(
  db: Database,
  client_id: string,
  secret: HashedSecret,
  expires: Date,
): Promise<void> {
  await queryRows(
    db,
    `update oauth_clients set secret_hash = :secret_hash, secret_key_id = :secret_key_id,
       previous_secret_hash = secret_hash, previous_secret_key_id = secret_key_id, previous_expires = :expires
     where client_id = :client_id`,
    { client_id, ...secret, expires },
  );
}

export async function revokeOAuthClient(db: Database, client_id: string, now: Date): Promise<void> {
  await db('oauth_clients').where({ client_id }).update({ revoked: now });
}

/** Records the day of a client's last token. */
export async function noteClientUse(db: Database, client_id: string, now: Date): Promise<void> {
  await queryRows(
    db,
    `update oauth_clients set last_used = cast(:today as date)
     where client_id = :client_id and (last_used is null or last_used < cast(:today as date))`,
    { client_id, today: now.toISOString().slice(0, 10) },
  );
}

/** The clients that are not revoked, newest first. */
export async function listOAuthClients(db: Database, now: Date, page: PageRequest): Promise<ListPage<OAuthClient>> {
  return await readPage(db, page, {
    select: CLIENT,
    bindings: { now },
    key: [
      ['created', 'timestamptz'],
      ['client_id', 'uuid'],
    ],
  });
}

/** Whether there is a client that may do everything. */
export async function hasOperator(db: Database): Promise<boolean> {
  return await hasRows(db, `select 1 from oauth_clients where role = 'operator' and revoked is null limit 1`);
}
