import type { AwaitedRequest } from '../domain/awaited-request';

/** Time reserved for telling the merchant that nothing was done, in milliseconds. */
const MARGIN_MS = 2_000;

/**
 * A request without an Idempotency-Key, by when its answer is due: its work may no longer begin shortly before, so that
 * most late work is not even tried (rules 10.5). Epoch milliseconds.
 */
export function awaitedRequest(request_id: string, deadline_at: number) {
  return { request_id, not_after: deadline_at - MARGIN_MS } satisfies AwaitedRequest;
}
