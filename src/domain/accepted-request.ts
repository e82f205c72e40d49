/**
 * A request of a merchant, a customer or an operator, as it was accepted. The same value goes unchanged to the
 * statement that writes what it asks for. Instants in epoch milliseconds by the machine's clock.
 */
export interface AcceptedRequest {
  /** Also the header X-Request-Id of the answer, and in every log line. */
  readonly request_id: string;
  /** When the answer is due (rules 10.4). */
  readonly deadline_at: number;
  /** It may be carried out after its sender got a 503: a repeat with the same key gets the result (rules 11.6). */
  readonly has_idempotency_key: boolean;
  /** The same request came before; it crashed or is still running, and may have done its work (rules 11.6). */
  readonly is_repeat: boolean;
  /** When it arrived; of a repeat: when the first request claimed the key. */
  readonly first_received_at: number;
  /**
   * Later nothing may be written, as the sender may get a 503 that says nothing was done (rules 10.5). Absent: at any
   * time.
   */
  readonly begin_before?: number | undefined;
  /** The versions of the object that the header If-Match allows; absent: any (rules 11.9). */
  readonly versions?: readonly number[] | undefined;
}

/** Time reserved for telling the sender that nothing was done, in milliseconds. */
const MARGIN_MS = 2_000;

/**
 * A request that comes for the first time. Without an Idempotency-Key its work may not begin shortly before the answer
 * is due, so that most late work is not even tried (rules 10.5).
 */
export function acceptRequest({
  request_id,
  received_at,
  deadline_at,
  has_idempotency_key = false,
  versions,
}: Pick<AcceptedRequest, 'request_id' | 'deadline_at' | 'versions'> & {
  received_at: number;
  has_idempotency_key?: boolean;
}): AcceptedRequest {
  return {
    request_id,
    deadline_at,
    has_idempotency_key,
    is_repeat: false,
    first_received_at: received_at,
    ...(!has_idempotency_key && { begin_before: deadline_at - MARGIN_MS }),
    versions,
  };
}
