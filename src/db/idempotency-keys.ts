import { iso, rows, type Database } from './connection';

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  project_id: string;
  key: string;
  /** SHA-256 of the request's content. */
  request_hash: Buffer;
}

/** An answer as it was sent over HTTP. */
export interface KeptAnswer {
  status: number;
  body: unknown;
}

/** What is known of a key. */
export interface KeyRecord {
  request_hash: Buffer;
  /** The first answer, once it is known. */
  answer?: KeptAnswer;
}

type KeyName = Pick<KeyedRequest, 'project_id' | 'key'>;

/** What is known of a key of this project; `undefined` when no request has claimed it. */
export async function findKey(db: Database, { project_id, key }: KeyName): Promise<KeyRecord | undefined> {
  const [row] = await rows<{ request_hash: Buffer; status: number | null; body: unknown }>(
    db,
    'select request_hash, status, body from idempotency_keys where project_id = :project_id and key = :key',
    { project_id, key },
  );
  if (row === undefined) return undefined;
  return {
    request_hash: row.request_hash,
    ...(row.status !== null && { answer: { status: row.status, body: row.body } }),
  };
}

/** Claims the key for this request; `false` when it was claimed before. */
export async function claimKey(
  db: Database,
  { project_id, key, request_hash }: KeyedRequest,
  now: number,
): Promise<boolean> {
  const claimed = await rows(
    db,
    `insert into idempotency_keys (project_id, key, request_hash, created) values (:project_id, :key, :request_hash, :created)
     on conflict do nothing returning key`,
    { project_id, key, request_hash, created: iso(now) },
  );
  return claimed.length === 1;
}

/** Keeps the answer under a claimed key unless there is one; returns the answer that is kept. Throws when the key was not claimed. */
export async function keepAnswer(
  db: Database,
  { project_id, key }: KeyName,
  { status, body }: KeptAnswer,
): Promise<KeptAnswer> {
  const [kept] = await rows<KeptAnswer>(
    db,
    `update idempotency_keys set status = coalesce(status, :status), body = coalesce(body, :body::json)
     where project_id = :project_id and key = :key returning status, body`,
    { project_id, key, status, body: JSON.stringify(body) },
  );
  if (kept === undefined) throw new Error('an answer is kept only for a key that was claimed');
  return kept;
}
