import type { Input, OperationId, Output } from '../src/contract/routes';
import type { Project } from '../src/db/projects';
import type { Logger } from '../src/log';

/** What is known about a request beside its content. */
export interface Context {
  /** The project of the API key. */
  readonly project: Project;
  /** Also the header X-Request-Id of the answer, and in every log line. */
  readonly request_id: string;
  /** When the answer is due: epoch milliseconds (DECISIONS, HTTP surface 10). */
  readonly deadline_at: number;
  /** The header Idempotency-Key of a POST (DECISIONS, HTTP surface 11). */
  readonly idempotency_key?: string;
  readonly log: Logger;
}

/** A use case: knows nothing of HTTP, receives parsed input, throws a ServiceError to refuse. */
export type Operation<K extends OperationId> = (context: Context, input: Input<K>) => Promise<Output<K>>;

/** One per row of ROUTES: a route without an operation does not compile. */
export type Operations = { readonly [K in OperationId]: Operation<K> };
