import { createHash } from 'node:crypto';
import { claimKey, findKey, keepAnswer, type KeptAnswer, type KeyRecord, type KeyedRequest } from '../src/db/idempotency-keys';
import type { Database } from '../src/db/connection';
import { truncatedAccount } from '../src/domain/account-funding';
import { ERRORS, ServiceError, type ErrorName } from '../src/errors';
import type { KeyUse } from './context';
import { errorBody } from './on-error';

/** Where keys and their first answers are kept. */
export interface KeyStore {
  find(request: Pick<KeyedRequest, 'project_id' | 'key'>): Promise<KeyRecord | undefined>;
  /** `false` when the key is somebody's already. */
  claim(request: KeyedRequest): Promise<boolean>;
  /** Answers what is kept from now on: this answer or an earlier one. */
  keep(request: KeyedRequest, answer: KeptAnswer): Promise<KeptAnswer>;
}

/** The keys of the service, in its database. */
export function keyStore(db: Database): KeyStore {
  return {
    find: (request) => findKey(db, request),
    claim: (request) => claimKey(db, request, Date.now()),
    keep: (request, answer) => keepAnswer(db, request, answer),
  };
}

/** A request without a key claims nothing and is nobody's repeat. */
export const WITHOUT_KEY: KeyUse = { is_repeat: false, claim: () => Promise.resolve() };

/**
 * SHA-256 of what a request asks for. Bodies are compared as values: whoever builds the same request again after a crash
 * may order its fields or space its JSON in another way.
 */
export function requestHash(parts: { method: string; path: string; params: unknown; query: unknown; body: unknown }): Buffer {
  const { method, path, params, query, body } = parts;
  return createHash('sha256').update(JSON.stringify([method, path, params, query, body], sorted)).digest();
}

function sorted(key: string, value: unknown): unknown {
  // It may be a card number, and the hash is kept.
  if (key === 'receiver_account_number' && typeof value === 'string') return truncatedAccount(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Does what a request with a key asks for, and answers it as it was answered first (DECISIONS, HTTP surface 11).
 *
 * The key belongs to the first request that claims it, which is before anything that lasts; a crash after that leaves the
 * claim, and the repeat goes on from there. Nothing is claimed by a request that was refused for what it says or for its
 * sender, so it may come again, corrected, with the same key. Throws what is not kept, and IdempotencyKeyReused.
 */
export async function answerOnce(keys: KeyStore, request: KeyedRequest, work: (use: KeyUse) => Promise<KeptAnswer>): Promise<KeptAnswer> {
  for (;;) {
    const known = await keys.find(request);
    if (known && !known.request_hash.equals(request.request_hash)) throw reused();
    if (known?.answer) return known.answer;

    const is_repeat = known !== undefined;
    let claimed = false;
    const claim = async () => {
      if (!claimed && !is_repeat && !(await keys.claim(request))) throw new ClaimLost();
      claimed = true;
    };

    try {
      const answer = await work({ is_repeat, claim }).catch((error: unknown) => {
        // What refuses a repeat before it came to the point says nothing of what the first one did.
        if (!(error instanceof ServiceError) || !isKept(error.error, claimed) || (is_repeat && !claimed)) throw error;
        return { status: ERRORS[error.error].status, body: errorBody(error) };
      });
      await claim();
      return await keys.keep(request, answer);
    } catch (error) {
      if (!(error instanceof ClaimLost)) throw error;
      // Begins again as a repeat: what was checked so far may have been turned by the very request that has the key.
    }
  }
}

/** Two at once, and the other one has claimed the key meanwhile. */
class ClaimLost extends Error {}

/** A request that could not be read is another one than whatever has its key. */
export async function refuseTaken(keys: Pick<KeyStore, 'find'>, request: Pick<KeyedRequest, 'project_id' | 'key'>): Promise<void> {
  if ((await keys.find(request)) !== undefined) throw reused();
}

const reused = () => new ServiceError('IdempotencyKeyReused', 'The Idempotency-Key came with another request before.');

/** Refusals that say something of the request or its sender alone. */
const OF_THE_REQUEST: readonly ErrorName[] = ['ValidationError', 'MissingInformationToCreateTransaction'];
const NEVER_KEPT: readonly ErrorName[] = ['Unauthorized', 'IdempotencyKeyReused'];

/** Whether a refusal depends on state, and so is an answer for good. `claimed`: it was the object's own workflow that refused. */
function isKept(error: ErrorName, claimed: boolean): boolean {
  if (ERRORS[error].status >= 500 || NEVER_KEPT.includes(error)) return false;
  return claimed || !OF_THE_REQUEST.includes(error);
}
