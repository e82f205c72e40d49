import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { KeyOwner } from '../../src/db/projects/api-keys';
import { ServiceError } from '../../src/errors';
import type { ProjectCaller } from '../merchant';

/** Looks an API key up; `undefined`: it is wrong, revoked or expired. Rejects when the database does not answer. */
export type FindOwner = (api_key: string) => Promise<KeyOwner | undefined>;

/** Keys remembered at once; beyond that the least recently used is looked up again. */
const REMEMBERED_MAX = 10_000;
/** Longer than any key; nothing longer is decoded. */
const HEADER_LENGTH_MAX = 512;

interface Remembered {
  /** `undefined`: the key is wrong. */
  caller: Promise<ProjectCaller | undefined>;
  /** By the monotonic clock, in milliseconds: the machine's clock may be set back. */
  until: number;
}

/**
 * Checks the header Authorization: Basic with the API key as username and an empty password (rules 2.1). Valid keys are
 * remembered for `remember_ms`, so a revoked key works that much longer, one that runs out does not; wrong keys are not
 * remembered. Requests that come during the look-up of their key share it. Memory holds digests only. Rejects with
 * Unauthorized.
 */
export function authenticateByApiKey(
  findOwner: FindOwner,
  remember_ms: number,
): (header: string | undefined) => Promise<ProjectCaller> {
  const remembered = new LRUCache<string, Remembered>({ max: REMEMBERED_MAX });

  function lookUp(api_key: string, digest: string): Remembered {
    // Measured from before the look-up, because the key may change during it.
    const until = performance.now() + remember_ms;
    const looked_up = findOwner(api_key);
    const entry: Remembered = { caller: looked_up.then((owner) => owner && callerOf(owner)), until };
    remembered.set(digest, entry);
    const forget = () => {
      if (remembered.peek(digest) === entry) remembered.delete(digest);
    };
    looked_up.then((owner) => {
      if (owner === undefined) forget();
      else if (owner.expires_at !== undefined) {
        entry.until = Math.min(until, performance.now() + owner.expires_at - Date.now());
      }
    }, forget);
    return entry;
  }

  return async (header) => {
    const api_key = apiKeyOf(header);
    const digest = createHash('sha256').update(api_key).digest('base64');
    const known = remembered.get(digest);
    const { caller } = known !== undefined && known.until > performance.now() ? known : lookUp(api_key, digest);
    const found = await caller;
    if (found === undefined) throw new ServiceError('Unauthorized', 'The API key is wrong.');
    return found;
  };
}

/** Limits count by project: a merchant makes as many keys as it is allowed to (rules 18.1). */
function callerOf({ project, api_key_id }: KeyOwner): ProjectCaller {
  const log = { project_id: project.id, api_key_id };
  return { project, actor: { kind: 'api_key', id: api_key_id }, id: project.id, log };
}

function apiKeyOf(header: string | undefined): string {
  if (header === undefined) throw new ServiceError('Unauthorized', 'The header Authorization is missing.');
  const [, encoded] = (header.length <= HEADER_LENGTH_MAX && /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)) || [];
  const [, api_key] = (encoded !== undefined && /^([^:]+):$/.exec(Buffer.from(encoded, 'base64').toString())) || [];
  if (api_key === undefined) {
    throw new ServiceError(
      'Unauthorized',
      'Expected the header Authorization: Basic, with the API key as username and an empty password.',
    );
  }
  return api_key;
}
