import { createHash } from 'node:crypto';
import {
  claimKey,
  findKey,
  keepAnswer,
  type KeptAnswer,
  type KeyRecord,
  type KeyedRequest,
} from '../../src/db/idempotency-keys';
import type { Database } from '../../src/db/connection';
import { truncatedAccount } from '../../src/domain/account-funding';
import { ERRORS, ServiceError, type ErrorName } from '../../src/errors';
import type { KeyUse } from '../context';
import { errorBody } from './errors';

/** Where keys and their first answers are kept. */
export interface KeyStore {
  find(request: Pick<KeyedRequest, 'project_id' | 'key'>): Promise<KeyRecord | undefined>;
  /** `false` when another request has the key. */
  claim(request: KeyedRequest): Promise<boolean>;
  /** Returns the answer that is kept: this one or an earlier one. */
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

/** For requests without a key: nothing to claim, never a repeat. */
export const WITHOUT_KEY: KeyUse = { is_repeat: false, claim: () => Promise.resolve() };

/**
 * SHA-256 of a request's content. Bodies are compared as values: a client that builds its request again after a crash may order
 * fields or space the JSON differently.
 */
export function requestHash(parts: {
  method: string;
  path: string;
  params: unknown;
  query: unknown;
  body: unknown;
}): Buffer {
  const { method, path, params, query, body } = parts;
  return createHash('sha256')
    .update(JSON.stringify([method, path, params, query, body], sorted))
    .digest();
}

function sorted(key: string, value: unknown): unknown {
  // It may be a card number, and the hash is stored.
  if (key === 'receiver_account_number' && typeof value === 'string') return truncatedAccount(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Runs a request with a key once, and gives repeats the first answer (rules 11.2).
 *
 * The first request claims the key before anything that lasts; after a crash the claim remains, and a repeat goes on from there. A
 * request refused for its content or its sender claims nothing, so it may come again, corrected, with the same key. Throws refusals
 * that are not kept, and IdempotencyKeyReused.
 */
export async function answerOnce(
  keys: KeyStore,
  request: KeyedRequest,
  work: (use: KeyUse) => Promise<KeptAnswer>,
): Promise<KeptAnswer> {
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
        // A repeat refused before it claims the key says nothing about the first run: do not keep it.
        if (!(error instanceof ServiceError) || !isKept(error.error, claimed) || (is_repeat && !claimed)) throw error;
        return { status: ERRORS[error.error].status, body: errorBody(error) };
      });
      await claim();
      return await keys.keep(request, answer);
    } catch (error) {
      if (!(error instanceof ClaimLost)) throw error;
      // Start over as a repeat: the request that has the key may have changed what was checked so far.
    }
  }
}

/** A concurrent request has claimed the key first. */
class ClaimLost extends Error {}

/** Throws IdempotencyKeyReused when the key is taken: a request that could not be read cannot be a repeat. */
export async function refuseTaken(
  keys: Pick<KeyStore, 'find'>,
  request: Pick<KeyedRequest, 'project_id' | 'key'>,
): Promise<void> {
  if ((await keys.find(request)) !== undefined) throw reused();
}

const reused = () => new ServiceError('IdempotencyKeyReused', 'The Idempotency-Key came with another request before.');

/** Refusals that depend only on the request or its sender. */
const OF_THE_REQUEST: readonly ErrorName[] = ['ValidationError', 'MissingInformationToCreateTransaction'];
const NEVER_KEPT: readonly ErrorName[] = ['Unauthorized', 'IdempotencyKeyReused'];

/** Whether a refusal is the key's final answer: it depends on state, or came after the claim. */
function isKept(error: ErrorName, claimed: boolean): boolean {
  if (ERRORS[error].status >= 500 || NEVER_KEPT.includes(error)) return false;
  return claimed || !OF_THE_REQUEST.includes(error);
}
