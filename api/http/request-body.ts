import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { parseJson } from '../../src/contract/json';
import { ServiceError } from '../../src/errors';
import { ConcurrencyLimit } from './concurrency-limit';
import type { RateLimit } from './rate-limit';
import { requestSignal } from './request-signal';
import { unlessAborted } from './unless-aborted';

/** Bytes of a body (rules 18.2). */
const BODY_BYTES_MAX = 256 * 1024;
/** Bytes of a body that cost one token of the rate limit (rules 18.1). */
const BYTES_PER_TOKEN = 16 * 1024;
/** Large bodies that are held at a time (rules 18.7): a client may take long to send one. */
const LARGE_BODIES = {
  what: 'reads of large bodies',
  per_caller: { running: 20, waiting: 60 },
  running: 200,
  running_first: 300,
};

const NO_TURN = 'Too many large bodies at a time: this one did not get its turn.';

/** Whose body is read, and how long it may wait for its turn. */
interface Reading {
  /** For the rate limit. */
  readonly caller: string;
  /** Epoch milliseconds. */
  readonly deadline_at: number;
  /** A missing body is read as `{}`. */
  readonly optional: boolean;
}

/** Reads the bodies of a host's requests as JSON. Large ones take turns and use up more of the rate limit. */
export class RequestBodies {
  private readonly large = new ConcurrencyLimit(LARGE_BODIES);

  constructor(private readonly rateLimit: Pick<RateLimit, 'spend'>) {}

  /**
   * The JSON of a request. Call it after authentication, so that a stranger's body is not read. Throws TooManyRequests
   * for a large body that does not get its turn in time.
   */
  async read(request: Request, response: Response, { caller, deadline_at, optional }: Reading): Promise<unknown> {
    if (!mayBeLarge(request)) return bodyOf(request, await readBytes(request, response), optional);
    const release = await inTime(response, deadline_at, (signal) => this.large.acquire(caller, signal));
    // The parser does not report that the client of a compressed body has left.
    response.once('close', release);
    try {
      const bytes = await readBytes(request, response);
      const tokens = Math.floor((bytes?.length ?? 0) / BYTES_PER_TOKEN);
      if (tokens > 0) await inTime(response, deadline_at, (signal) => this.rateLimit.spend(caller, tokens, signal));
      return bodyOf(request, bytes, optional);
    } finally {
      response.off('close', release);
      release();
    }
  }
}

/** Whether a body is large, or its size is not known before it has come. */
function mayBeLarge({ headers }: Request): boolean {
  const isUnknown = headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined;
  return isUnknown || Number(headers['content-length'] ?? 0) >= BYTES_PER_TOKEN;
}

/** Waits for work. Rejects with TooManyRequests at the deadline, or when the client has left, and aborts the signal. */
async function inTime<T>(
  response: Response,
  deadline_at: number,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = requestSignal(response, deadline_at, NO_TURN);
  return await unlessAborted(begin(signal), signal).finally(release);
}

const readRaw = express.raw({ limit: BODY_BYTES_MAX, type: () => true });

/** The bytes of a body, decompressed; `undefined` where there are none. */
async function readBytes(request: Request, response: Response): Promise<Buffer | undefined> {
  await new Promise<void>((resolve, reject) => {
    readRaw(request, response, (error?: unknown) => (error ? reject(error as Error) : resolve()));
  });
  const bytes: unknown = request.body;
  return Buffer.isBuffer(bytes) && bytes.length > 0 ? bytes : undefined;
}

function bodyOf(request: Request, bytes: Buffer | undefined, optional: boolean): unknown {
  if (bytes === undefined) {
    if (optional) return {};
    throw new ServiceError('ValidationError', 'Expected a JSON object as body.');
  }
  // Not checked without a body: clients send the type by habit.
  const type = request.headers['content-type'];
  const isJson = type === undefined ? optional : /^\s*application\/json\s*(;|$)/i.test(type);
  if (!isJson) throw new ServiceError('UnsupportedMediaType', 'Expected Content-Type: application/json.');
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type ?? '') ?? [];
  if (!/^utf-?8$/i.test(charset)) throw new ServiceError('UnsupportedMediaType', 'The body is not in UTF-8.');
  const body = jsonOf(bytes);
  // Clients that serialize a body which they do not have send null.
  return body === null && optional ? {} : body;
}

/** Text that is not UTF-8 is refused: read anyway, it would be stored altered. */
function jsonOf(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ServiceError('ValidationError', 'The body is not valid UTF-8.');
  try {
    // Drops the byte order mark that some systems begin a text with.
    return parseJson(bytes.toString().replace(/^\ufeff/, ''));
  } catch (error) {
    // Nothing else of the message: it may quote the body.
    const position = /at position (\d+)/.exec(String(error))?.[1];
    const where = position === undefined ? '' : ` at character ${Number(position) + 1}`;
    throw new ServiceError('ValidationError', `The body is not valid JSON${where}.`);
  }
}
