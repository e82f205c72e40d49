import { createHash } from 'node:crypto';
import type { Database } from '../../src/db/query';
import { claimKey, findKey, keepAnswer, type KeptAnswer, type KeyRecord } from '../../src/db/requests/idempotency-keys';
import { ERRORS, ServiceError, type ErrorName } from '../../src/errors';
import type { SecretKeys } from '../../src/secrets';
import type { Versioned, Work } from '../operation';
import { errorBody } from './errors';

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly key: string;
  /** Result of requestHashes. */
  readonly request_hashes: readonly Buffer[];
  /** Called when the same request came before. */
  readonly onRepeat?: () => void;
}

/**
 * An answer as it is sent. `kept`: what a repeat is answered with, where it is something else (rules 11.10); null: the
 * repeat is carried out.
 */
export interface Reply extends KeptAnswer {
  readonly kept?: KeptAnswer | null;
}

/** Kept in place of an answer that showed a secret about the object `id`. */
export function secretShown(id: string): KeptAnswer {
  const error = new ServiceError('Conflict', `The request was carried out for ${id}; its secret is shown only once.`);
  return { status: ERRORS.Conflict.status, body: errorBody(error) };
}

/** The answer for an order or payment link that does not exist any more. */
function noLongerShown(id: string): KeptAnswer {
  const error = new ServiceError('NotFound', `The request was carried out for ${id}, which does not exist any more.`);
  return { status: ERRORS.NotFound.status, body: errorBody(error) };
}

/** Stores the keys of one caller with their first answers. `db`: the SQL transaction to use. */
export interface KeyStore {
  /** For requestHashes. */
  readonly secrets: HashKeys;
  find(key: string): Promise<KeyRecord | undefined>;
  /** `false` when another request has the key. `refusal`: the answer, kept with the claim in one statement. */
  claim(request: KeyedRequest, with_it?: { trx?: Database; refusal?: KeptAnswer }): Promise<boolean>;
  /** Returns the stored answer: this one or an earlier one. */
  keep(key: string, answer: KeptAnswer, db?: Database): Promise<KeptAnswer>;
}

type HashKeys = Pick<SecretKeys, 'ids' | 'hash'>;

/** The order or payment link as it is shown now; `undefined` when there is none. */
type ReadShown = (object_id: string) => Promise<Versioned<unknown> | undefined>;

/**
 * The keys of a project or a client. An answer that is no longer kept word for word is the object as it is now, with
 * the status of the first answer (rules 11.2).
 */
export function keyStore(
  { db, secrets }: { db: Database; secrets: HashKeys },
  owner_id: string,
  readShown?: ReadShown,
): KeyStore {
  return {
    secrets,
    async find(key) {
      const known = await findKey(db, { owner_id, key });
      const before = known?.answered;
      if (before === undefined) return known;
      const shown = await readShown?.(before.object_id);
      const { status, has_version } = before;
      const answer = shown
        ? { status, body: shown.body, ...(has_version && { version: shown.version }) }
        : noLongerShown(before.object_id);
      return { ...known!, answer };
    },
    claim: ({ key, request_hashes: [request_hash] }, { trx = db, refusal } = {}) =>
      claimKey(trx, { owner_id, key, request_hash: request_hash!, refusal }, Date.now()),
    keep: (key, answer, trx = db) => keepAnswer(trx, { owner_id, key }, answer),
  };
}

/** What identifies a request: its route, its parameters and its body. */
type Content = [route: { method: string; path: string }, input: { params?: unknown; query?: unknown }, body: unknown];

/**
 * The hashes of a request's content, one for each key of SECRET_KEYS. The first is stored. A repeat is recognized by
 * any of them, so that it also is while a key is replaced.
 */
export function requestHashes(secrets: HashKeys, ...content: Content): Buffer[] {
  return secrets.ids.map((id) => requestHash((text) => secrets.hash(text, id).secret_hash.toString('hex'), ...content));
}

/**
 * SHA-256 of a request's content. Bodies are compared as values: a client that builds its request again after a crash
 * may order fields or space the JSON differently.
 */
function requestHash(
  keyedHash: (text: string) => string,
  ...[{ method, path }, { params, query }, body]: Content
): Buffer {
  const sorted = (key: string, value: unknown): unknown => {
    // It may be a card number, which could be found from a plain hash by trying all of them.
    if (key === 'receiver_account_number' && typeof value === 'string') return keyedHash(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  };
  return createHash('sha256')
    .update(JSON.stringify([method, path, params, query, body], sorted))
    .digest();
}

/**
 * Carries out a request with a key once, and gives repeats the first answer (rules 11.2). `prepare` checks the request
 * and returns its work, as an operation does; for a repeat it gets when the first request claimed the key, epoch
 * milliseconds.
 *
 * The first request claims the key after its checks and before its work; after a crash the claim remains, and a repeat
 * goes on from there. A request refused for its content or its sender claims nothing, so it may come again, corrected,
 * with the same key. Throws refusals that are not kept, and IdempotencyKeyReused.
 */
export async function answerOnce(
  keys: KeyStore,
  request: KeyedRequest,
  prepare: (claimed_at: number | undefined) => Promise<Work<Reply>>,
): Promise<KeptAnswer> {
  for (;;) {
    const known = await keys.find(request.key);
    if (known && !request.request_hashes.some((hash) => hash.equals(known.request_hash))) throw reused();
    if (known) request.onRepeat?.();
    if (known?.answer) return known.answer;
    try {
      return await run(keys, request, prepare, known?.claimed_at);
    } catch (error) {
      // Start over as a repeat: the request that claimed the key may have changed the objects that were checked.
      if (!(error instanceof ClaimLost)) throw error;
    }
  }
}

/** A concurrent request has claimed the key first. */
class ClaimLost extends Error {}

async function run(
  keys: KeyStore,
  request: KeyedRequest,
  prepare: (claimed_at: number | undefined) => Promise<Work<Reply>>,
  claimed_at: number | undefined,
): Promise<KeptAnswer> {
  const is_repeat = claimed_at !== undefined;
  const claim = async (with_it: Parameters<KeyStore['claim']>[1] = {}) => {
    if (!is_repeat && !(await keys.claim(request, with_it))) throw new ClaimLost();
  };
  // In one statement: a repeat must not find the key claimed, and carry out what was refused (rules 11.2).
  const keepRefusal = async (error: unknown): Promise<KeptAnswer> => {
    const refusal = refusalToKeep(error);
    await claim({ refusal });
    return is_repeat ? await keys.keep(request.key, refusal) : refusal;
  };
  const work = await prepare(claimed_at).catch((error: unknown) => {
    // A refusal before the work of a repeat does not show the outcome of the first run.
    if (is_repeat || isRequestError(error)) throw error;
    return { refusal: error };
  });
  if ('refusal' in work) return await keepRefusal(work.refusal);
  if ('write' in work) {
    const written = await work.db
      .transaction(async (trx) => {
        await claim({ trx });
        return await keepReply(await work.write(trx), (answer) => keys.keep(request.key, answer, trx));
      })
      .catch((error: unknown) => {
        // Its claim was rolled back, so the request may come again, corrected.
        if (isRequestError(error)) throw error;
        return { refusal: error };
      });
    if (!('refusal' in written)) {
      await work.afterCommit?.();
      return written;
    }
    // The claim was rolled back together with the change.
    return await keepRefusal(written.refusal);
  }
  await claim();
  return await keepReply(await work().catch(refusalToKeep), (answer) => keys.keep(request.key, answer));
}

async function keepReply(
  { kept, ...sent }: Reply,
  keep: (answer: KeptAnswer) => Promise<KeptAnswer>,
): Promise<KeptAnswer> {
  if (kept === undefined) return await keep(sent);
  if (kept !== null) await keep(kept);
  return sent;
}

/** Throws IdempotencyKeyReused when the key is taken: a request that could not be read cannot be a repeat. */
export async function refuseTaken(keys: Pick<KeyStore, 'find'>, key: string): Promise<void> {
  if ((await keys.find(key)) !== undefined) throw reused();
}

const reused = () => new ServiceError('IdempotencyKeyReused', 'The Idempotency-Key came with another request before.');

/** Refusals that depend only on the request; of work that is no Write also on state, such as more than is left. */
const REQUEST_ERRORS: readonly ErrorName[] = ['ValidationError', 'MissingInformationToCreateTransaction'];
const NEVER_KEPT: readonly ErrorName[] = ['Unauthorized', 'IdempotencyKeyReused', 'TooManyRequests'];

function isRequestError(error: unknown): boolean {
  return error instanceof ServiceError && REQUEST_ERRORS.includes(error.error);
}

/** A refusal that is a key's final answer, as it is sent. Throws every other error again (rules 11.5). */
function refusalToKeep(error: unknown): KeptAnswer {
  if (!(error instanceof ServiceError) || NEVER_KEPT.includes(error.error)) throw error;
  const { status } = ERRORS[error.error];
  if (status >= 500) throw error;
  return { status, body: errorBody(error) };
}
