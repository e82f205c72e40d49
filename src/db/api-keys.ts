import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { rows, type Database } from './connection';
import { PROJECT, type Project } from './projects';

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
  if (row === undefined || !timingSafeEqual(row.secret_hash, hashOf(secret)) || row.is_test !== (mode === 'test')) {
    return undefined;
  }
  const { secret_hash: _, ...project } = row;
  return project;
}

/** A new key in full. It cannot be shown again: only its hash is kept. */
export function newApiKey({ is_test }: { is_test: boolean }): string {
  return `${is_test ? 'test' : 'live'}_${randomBytes(6).toString('hex')}${randomBytes(20).toString('hex')}`;
}

/** Repeat-safe: the same key is stored once. Throws when the text is not an API key. */
export async function insertApiKey(db: Database, project_id: string, api_key: string, now: Date): Promise<void> {
  const [, , id, secret] = API_KEY.exec(api_key) ?? [];
  if (id === undefined || secret === undefined) throw new Error('not an API key of this service');
  await db('api_keys')
    .insert({ id, project_id, secret_hash: hashOf(secret), created: now })
    .onConflict('id')
    .ignore();
}
