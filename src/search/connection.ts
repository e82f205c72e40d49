import { createHmac } from 'node:crypto';
import { Meilisearch, MeilisearchApiError } from 'meilisearch';
import { INDEX, REBUILT_INDEX } from './settings';

/**
 * Keys that the set-up makes. Meilisearch derives a key from its uid and the master key, so that every process can
 * compute it.
 */
export const KEYS = {
  /** The key of the API. */
  read: { uid: '5f1c1a52-3a0e-4d9c-9c5e-6b0f3c1d7a01', indexes: [INDEX], actions: ['search', 'documents.get'] },
  /** The key of the indexer, for documents. */
  write: {
    uid: '5f1c1a52-3a0e-4d9c-9c5e-6b0f3c1d7a03',
    indexes: [INDEX, `${REBUILT_INDEX}*`],
    actions: ['documents.add', 'documents.delete', 'documents.get', 'tasks.get', 'stats.get', 'settings.get'],
  },
} as const;

/** Address and master key of Meilisearch; without a key, Meilisearch requires none. */
export interface SearchServer {
  url: string;
  master_key?: string | undefined;
}

/** A client with one of our keys, or with the master key for the set-up. `timeout_ms`: of each request. */
export function connectSearch(
  { url, master_key }: SearchServer,
  use: keyof typeof KEYS | 'set-up',
  timeout_ms?: number,
): Meilisearch {
  const key = master_key === undefined || use === 'set-up' ? master_key : derivedKey(master_key, KEYS[use].uid);
  return new Meilisearch({
    host: url,
    ...(key !== undefined && { apiKey: key }),
    ...(timeout_ms !== undefined && { timeout: timeout_ms }),
    // Node asks for gzip, and every compressed answer stalls for 43 ms.
    requestInit: { headers: { 'Accept-Encoding': 'identity' } },
  });
}

function derivedKey(master_key: string, uid: string): string {
  return createHmac('sha256', master_key).update(uid).digest('hex');
}

/** Whether Meilisearch rejected the request as invalid; a retry would fail too. */
export function isRefusal(error: unknown): error is MeilisearchApiError {
  return error instanceof MeilisearchApiError && error.cause?.type === 'invalid_request' && !isNotThere(error);
}

/** Whether there is no such index, or not yet. */
export function isNotThere(error: unknown): boolean {
  return error instanceof MeilisearchApiError && error.cause?.code === 'index_not_found';
}

/** Calls again if the connection broke before an answer, as kept-alive ones do after a restart of the server. */
export async function onceMore<T>(call: () => Promise<T>): Promise<T> {
  return await call().catch((error: unknown) => {
    if (isBroken(error)) return call();
    throw error;
  });
}

function isBroken(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: { cause?: { code?: unknown } } };
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(cause?.cause?.code));
}

/** The part of an error that may be logged. The server's own messages name fields and values. */
export function reasonOf(error: unknown): string {
  if (error instanceof MeilisearchApiError) return error.cause?.code ?? `status ${error.response.status}`;
  const { name, cause } = (error ?? {}) as { name?: string; cause?: { name?: string; cause?: { code?: string } } };
  return cause?.cause?.code ?? cause?.name ?? name ?? 'no answer';
}
