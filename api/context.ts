import type { Input, OperationId, Output, ROUTES } from '../src/contract/routes';
import type { Project } from '../src/db/projects';
import type { Logger } from '../src/log';

/** How an operation uses the Idempotency-Key of its request; without a key, WITHOUT_KEY. */
export interface KeyUse {
  /**
   * A request with this key and content came before; it crashed or is still running, and may have done its work. The first run may
   * have changed what a check reads (If-Match): skip such checks.
   */
  readonly is_repeat: boolean;
  /**
   * Called after every check of the request itself and before anything that lasts. From then on the key is this request's, and its
   * answer or refusal (5xx excepted) is final.
   */
  claim(): Promise<void>;
}

/** What is known about a request besides its content. */
export interface Context extends KeyUse {
  /** The project of the API key. */
  readonly project: Project;
  /** Also the header X-Request-Id of the answer, and in every log line. */
  readonly request_id: string;
  /** When the answer is due: epoch milliseconds (rules 10.4). */
  readonly deadline_at: number;
  /** The header Idempotency-Key of a POST (rules 11.1). */
  readonly idempotency_key?: string;
  /** The header If-Match, as it came; allowedVersions reads it. */
  readonly if_match?: string;
  readonly log: Logger;
}

/** An order in an answer, with its version. */
export interface Versioned<T> {
  readonly body: T;
  readonly version: number;
}

/** What an operation returns, with the version where the route promises an ETag. */
export type Answer<K extends OperationId> = (typeof ROUTES)[K] extends { readonly etag: true }
  ? Versioned<Output<K>>
  : Output<K>;

/** A use case: knows nothing of HTTP, receives parsed input, throws a ServiceError to refuse. */
export type Operation<K extends OperationId> = (context: Context, input: Input<K>) => Promise<Answer<K>>;

/** One per row of ROUTES: a route without an operation does not compile. */
export type Operations = { readonly [K in OperationId]: Operation<K> };
