import type { Input, Output, Route } from '../src/contract/routes';
import type { Database, SqlTransaction } from '../src/db/query';
import type { AcceptedRequest } from '../src/domain/accepted-request';
import type { Logger } from '../src/log';
import type { TakePlace } from './large-answers/bulk-reads';

/** The sender of a request; each API has its own kind. */
export interface Caller {
  /** Identifies the caller, for the rate limit; never the credential. */
  readonly id: string;
  /** Fields of the caller in log lines. */
  readonly log: Readonly<Record<string, string>>;
}

/** The context of a request, known before its operation runs. */
export interface RequestContext<C extends Caller> {
  readonly caller: C;
  readonly request: AcceptedRequest;
  /** The header Idempotency-Key (rules 11.1). Ids of what the request creates derive from it. */
  readonly idempotency_key: string | undefined;
  /** Takes further tokens from the caller's rate limit; waits for the time that the rate takes for what is missing. */
  readonly spend: (tokens: number) => Promise<void>;
  readonly log: Logger;
  /** Aborted at the deadline, and when the client has left. Absent for the command line. */
  readonly signal?: AbortSignal | undefined;
  /** The preference `wait` of a request whose route heeds it (rules 5.12). */
  readonly wait?: WaitPreference | undefined;
}

/** A request that is to be answered when something has changed, or at the end of a time. */
export interface WaitPreference {
  /** The end of that time, epoch milliseconds. */
  readonly until: number;
  /** Whether the client knows another version (If-None-Match): the change has happened already. */
  readonly isOutdated: (version: number) => boolean;
  /** Whether the client has closed its connection. */
  readonly hasLeft: () => boolean;
  /** Calls `leave` when it does. Returns the function that ends the watch. */
  readonly onLeave: (leave: () => void) => () => void;
  /** Tells the client that the preference was heeded. */
  readonly apply: () => void;
  /** Keeps the connection open during a wait. Returns the function that ends it. */
  readonly begin: () => () => void;
}

/** An object in an answer, with its version. */
export interface Versioned<T> {
  readonly body: T;
  readonly version: number;
  /**
   * The deadline passed before it was known whether the change was made: a repeat with the key makes it (rules 11.5).
   */
  readonly is_unknown?: boolean;
}

/** An answer that is sent while it is made, as fast as its reader takes it. */
export class Stream {
  constructor(
    readonly content_type: string,
    /**
     * Reading starts when the first chunk is requested, and is given up when `signal` is aborted: at the deadline before
     * the first chunk is there, and when the client has left.
     */
    readonly chunks: (signal: AbortSignal) => AsyncIterable<string | Buffer>,
    /** Taken before the first chunk is read, and held until the answer has been sent or its connection is closed. */
    readonly takePlace: TakePlace,
    /** The name under which a browser saves it; such a file is compressed for a reader who accepts that. */
    readonly file_name?: string,
  ) {}
}

/** A JSON array as a stream. Each piece is a list of values that are JSON already; `signal` as in Stream. */
export function jsonArray(
  pieces: (signal: AbortSignal) => AsyncIterable<readonly string[]>,
  takePlace: TakePlace,
): Stream {
  async function* chunks(signal: AbortSignal) {
    let open = '[';
    for await (const values of pieces(signal)) {
      if (values.length === 0) continue;
      yield open + values.join(',');
      open = ',';
    }
    yield open === '[' ? '[]' : ']';
  }
  return new Stream('application/json', chunks, takePlace);
}

/** The answer to a request: a stream, or JSON with the version where the route promises an ETag. */
export type Answer<R extends Route> = R extends { readonly stream: true }
  ? Output<R> | Stream
  : R extends { readonly etag: true }
    ? Versioned<Output<R>>
    : Output<R>;

/**
 * The work of a request after all checks. The Idempotency-Key is claimed just before it; its answer or refusal (5xx
 * excepted) is final. It is safe to repeat.
 */
export type Work<A> = (() => Promise<A>) | Write<A> | RefusedWork;

/**
 * A refusal that depends on the state of an object, and so is the answer of an Idempotency-Key, whatever its name. The
 * key is claimed and the refusal kept in one statement: a repeat that comes meanwhile does not find the key
 * claimed and without an answer, and carry out what is refused here.
 */
export interface RefusedWork {
  readonly refusal: unknown;
}

/**
 * Work that only changes the database: the key is claimed, the change made and the answer kept in one SQL transaction.
 * A ValidationError leaves the key free, as one of the checks does.
 */
export interface Write<A> {
  readonly db: Database;
  readonly write: (trx: SqlTransaction) => Promise<A>;
  /** Called once the SQL transaction is committed; a process that dies before must lose nothing by it. */
  readonly afterCommit?: () => Promise<void>;
}

/** Does the work. */
export async function carryOut<A>(work: Work<A>): Promise<A> {
  if (typeof work === 'function') return await work();
  if ('refusal' in work) throw work.refusal;
  const done = await work.db.transaction(work.write);
  await work.afterCommit?.();
  return done;
}

/**
 * A use case, independent of HTTP: receives parsed input and throws a ServiceError to refuse. A read returns its
 * answer; any other operation checks the request and returns the work to do.
 */
export type Operation<R extends Route, C extends Caller> = (
  context: RequestContext<C>,
  input: Input<R>,
) => Promise<R extends { readonly method: 'get' } | { readonly reads_only: true } ? Answer<R> : Work<Answer<R>>>;

/** One operation per route: a route without an operation does not compile. */
export type Operations<Routes extends Record<string, Route>, C extends Caller> = {
  readonly [K in keyof Routes]: Operation<Routes[K], C>;
};
