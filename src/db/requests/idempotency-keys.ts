import { validate as isUuid } from 'uuid';
import { toIsoTime } from '../../time';
import { epochMsSql } from '../columns';
import { hasRows, queryRow, type Database } from '../query';

/** An answer as it was sent over HTTP. */
export interface KeptAnswer {
  status: number;
  body: unknown;
  /** Version of the object in it, where the answer carries an ETag. */
  version?: number | undefined;
}

/** The state of a key. */
export interface KeyRecord {
  request_hash: Buffer;
  /** When its first request claimed it, epoch milliseconds. */
  claimed_at: number;
  /** The first answer, once it is known. */
  answer?: KeptAnswer;
  /** The first answer was kept for its days, and is no longer known word for word (rules 11.2). */
  answered?: AnsweredBefore;
}

/** What stays of an answer that showed an order or payment link. */
export interface AnsweredBefore {
  status: number;
  object_id: string;
  has_version: boolean;
}

interface KeyName {
  /** The project or client that sent it. */
  owner_id: string;
  key: string;
}

/** The state of a key of this owner; `undefined` when no request has claimed it. */
export async function findKey(db: Database, { owner_id, key }: KeyName): Promise<KeyRecord | undefined> {
  const row = await queryRow<{
    request_hash: Buffer;
    claimed_at: number;
    status: number | null;
    body: unknown;
    version: number | null;
    object_id: string | null;
    has_body: boolean;
  }>(
    db,
    // A kept answer without a body, as after 204, is the JSON null.
    `select request_hash, ${epochMsSql('created')} as claimed_at, status, body, version, object_id, body is not null as has_body
     from idempotency_keys where owner_id = :owner_id and key = :key`,
    { owner_id, key },
  );
  if (row === undefined) return undefined;
  const { request_hash, claimed_at, status, version, object_id, has_body } = row;
  const found = { request_hash, claimed_at };
  if (status === null) return found;
  if (has_body) return { ...found, answer: answerOf({ ...row, status }) };
  return { ...found, answered: { status, object_id: object_id!, has_version: version !== null } };
}

/**
 * Claims the key for this request; `false` when it was claimed before. `refusal`: its answer, kept in the same
 * statement.
 */
export async function claimKey(
  db: Database,
  { owner_id, key, request_hash, refusal }: KeyName & { request_hash: Buffer; refusal?: KeptAnswer | undefined },
  now: number,
): Promise<boolean> {
  return await hasRows(
    db,
    `insert into idempotency_keys (owner_id, key, request_hash, created, status, body)
     values (:owner_id, :key, :request_hash, :created, :status, :body::json)
     on conflict do nothing returning key`,
    {
      owner_id,
      key,
      request_hash,
      created: toIsoTime(now),
      status: refusal?.status ?? null,
      body: refusal === undefined ? null : JSON.stringify(refusal.body),
    },
  );
}

/**
 * Keeps the answer under a claimed key unless there is one; returns the answer that is kept. Notes whether it shows an
 * order or payment link, by the `id` in its body. Throws when the key was not claimed.
 */
export async function keepAnswer(
  db: Database,
  { owner_id, key }: KeyName,
  { status, body, version }: KeptAnswer,
): Promise<KeptAnswer> {
  const kept = await queryRow<{ status: number; body: unknown; version: number | null; has_body: boolean }>(
    db,
    `update idempotency_keys set status = coalesce(status, :status), body = case when status is null then :body::json else body end,
       version = case when status is null then :version else version end,
       object_id = case when status is null then
         (select id from orders where id = :id::uuid union all select id from payment_links where id = :id::uuid)
       else object_id end
     where owner_id = :owner_id and key = :key
     returning status, body, version, body is not null as has_body`,
    { owner_id, key, status, body: JSON.stringify(body), version: version ?? null, id: idIn(body) },
  );
  if (kept === undefined) throw new Error('an answer is kept only for a key that was claimed');
  return kept.has_body ? answerOf(kept) : { status, body, version };
}

/** The id that a body shows; null where it has none, or another kind of id. */
function idIn(body: unknown): string | null {
  const { id } = (body ?? {}) as { id?: unknown };
  return typeof id === 'string' && isUuid(id) ? id : null;
}

function answerOf({ status, body, version }: { status: number; body: unknown; version: number | null }): KeptAnswer {
  return { status, body, ...(version !== null && { version }) };
}
