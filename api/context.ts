import type { Input, OperationId, Output, ROUTES } from '../src/contract/routes';
import type { Project } from '../src/db/projects';
import type { Logger } from '../src/log';

/** What an operation does with the Idempotency-Key of its request; without one there is nothing to it. */
export interface KeyUse {
  /**
   * A request with this key and content came before, crashed or is at work at this moment: what it asks for may be done
   * already. A check that its own effect can turn must be left out.
   */
  readonly is_repeat: boolean;
  /**
   * Called after all that is checked of the request itself and before anything that lasts: from here on the key is this
   * request's, and whatever the operation answers or refuses (5xx excepted) is its answer for good.
   */
  claim(): Promise<void>;
}

/** What is known about a request beside its content. */
export interface Context extends KeyUse {
  /** The project of the API key. */
  readonly project: Project;
  /** Also the header X-Request-Id of the answer, and in every log line. */
  readonly request_id: string;
  /** When the answer is due: epoch milliseconds (DECISIONS, HTTP surface 10). */
  readonly deadline_at: number;
  /** The header Idempotency-Key of a POST (DECISIONS, HTTP surface 11). */
  readonly idempotency_key?: string;
  /** The header If-Match, as it came; allowedVersions reads it. */
  readonly if_match?: string;
  readonly log: Logger;
}

/** An order as an answer shows it, and which version of it that is. */
export interface Versioned<T> {
  readonly body: T;
  readonly version: number;
}

/** What an operation returns: where the route promises an ETag, the version comes along. */
export type Answer<K extends OperationId> = (typeof ROUTES)[K] extends { readonly etag: true } ? Versioned<Output<K>> : Output<K>;

/** A use case: knows nothing of HTTP, receives parsed input, throws a ServiceError to refuse. */
export type Operation<K extends OperationId> = (context: Context, input: Input<K>) => Promise<Answer<K>>;

/** One per row of ROUTES: a route without an operation does not compile. */
export type Operations = { readonly [K in OperationId]: Operation<K> };
