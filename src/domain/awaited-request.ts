/**
 * A request without an Idempotency-Key: at its deadline its sender learns that nothing was stored, or that this is not
 * known (rules 10.5). Both fields are absent with a key, as such a request may be carried out later.
 */
export interface AwaitedRequest {
  /** Identifies the request: its X-Request-Id. */
  request_id?: string | undefined;
  /** Epoch milliseconds by the machine's clock; later nothing may be written. */
  not_after?: number | undefined;
}
