import { epochOf } from '../columns';
import { toIsoTime, queryRows, type Database } from '../connection';

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
}

interface KeyName {
  /** The project or client that sent it. */
  owner_id: string;
  key: string;
}

/** The state of a key of this owner; `undefined` when no request has claimed it. */
export async function findKey(db: Database, { owner_id, key }: KeyName): Promise<KeyRecord | undefined> {
  const [row] = await queryRows<{
    request_hash: Buffer;
    claimed_at: number;
    status: number | null;
    body: unknown;
    version: number | null;
  }>(
    db,
    `select request_hash, ${epochOf('created')} as claimed_at, status, body, version
     from idempotency_keys where owner_id = :owner_id and key = :key`,
    { owner_id, key },
  );
  if (row === undefined) return undefined;
  const { request_hash, claimed_at, status } = row;
  return { request_hash, claimed_at, ...(status !== null && { answer: answerOf({ ...row, status }) }) };
}

/** Claims the key for this request; `false` when it was claimed before. */
export async function claimKey(
  db: Database,
  { owner_id, key, request_hash }: KeyName & { request_hash: Buffer },
  now: number,
): Promise<boolean> {
  const claimed = await queryRows(
    db,
    `insert into idempotency_keys (owner_id, key, request_hash, created) values (:owner_id, :key, :request_hash, :created)
     on conflict do nothing returning key`,
    { owner_id, key, request_hash, created: toIsoTime(now) },
  );
  return claimed.length === 1;
}

/**
 * Keeps the answer under a claimed key unless there is one; returns the answer that is kept. Throws when the key was
 * not claimed.
 */
export async function keepAnswer(
  db: Database,
  { owner_id, key }: KeyName,
  { status, body, version }: KeptAnswer,
): Promise<KeptAnswer> {
  const [kept] = await queryRows<{ status: number; body: unknown; version: number | null }>(
    db,
    `update idempotency_keys set status = coalesce(status, :status), body = coalesce(body, :body::json),
       version = case when status is null then :version else version end
     where owner_id = :owner_id and key = :key returning status, body, version`,
    { owner_id, key, status, body: JSON.stringify(body), version: version ?? null },
  );
  if (kept === undefined) throw new Error('an answer is kept only for a key that was claimed');
  return answerOf(kept);
}

function answerOf({ status, body, version }: { status: number; body: unknown; version: number | null }): KeptAnswer {
  return { status, body, ...(version !== null && { version }) };
}
