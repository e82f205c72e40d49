/** Time reserved for telling the merchant that nothing was done, in milliseconds. */
const MARGIN_MS = 2_000;

/**
 * When a request's work may no longer begin, so that "nothing was stored" stays true (rules 10.5). Epoch milliseconds.
 */
export function notAfter(deadline_at: number): number {
  return deadline_at - MARGIN_MS;
}
