import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TLSSocket } from 'node:tls';
import { createGzip } from 'node:zlib';
import type { Request, Response } from 'express';
import type { Stream } from '../operation';
import { READ_NOT_IN_TIME, requestSignal, type RequestSignal } from './request-signal';
import { unlessAborted } from './unless-aborted';

/**
 * The least that a client takes of a stream which waits for it (rules 18.9). Over minutes: the connection's buffers in
 * the kernel are emptied in steps of a megabyte or more.
 */
const LEAST_SPEED = { bytes: 5 * 256 * 1_024, per_ms: 300_000 };
/** Size of the pieces written to the connection, so that the client's progress is measurable. Bytes. */
const PIECE = 64 * 1_024;

/**
 * Answers with JSON. Not with res.json, which appends a charset to the type: clients compare it exactly (rules 1.2). No
 * answer of the API may be cached or framed.
 */
export function answer(response: Response, status: number, body: unknown): void {
  answerJson(response, status, JSON.stringify(body));
}

/** As `answer`, with a body that is JSON already. */
export function answerJson(response: Response, status: number, json: string): void {
  const content = Buffer.from(json);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', content.length);
  protect(response);
  response.end(content);
}

/**
 * Answers with a stream, as fast as the reader takes it, once there is a place for it; throws TooManyRequests when its
 * first chunk is not there at `deadline_at` (epoch milliseconds). Rejects with what fails before that chunk; after it the
 * connection is closed, as a part must not look like the whole. A reader who goes away, or is too slow, ends the
 * stream.
 */
export async function answerStream(
  request: Request,
  response: Response,
  { status, deadline_at, least_speed = LEAST_SPEED }: StreamOptions,
  stream: Stream,
): Promise<void> {
  // Node's pipeline adds some seven. With those of this API they are more than the ten beyond which it warns.
  response.setMaxListeners(LISTENERS_MAX);
  const { signal, endDeadline, release } = requestSignal(response, deadline_at, READ_NOT_IN_TIME);
  try {
    const leavePlace = await stream.takePlace(signal);
    const stopWatching = requireSpeed(request.socket, response, least_speed);
    try {
      await sendStream(request, response, { status, signal, endDeadline }, stream);
    } finally {
      stopWatching();
      leavePlace();
    }
  } finally {
    release();
  }
}

interface StreamOptions {
  status: number;
  deadline_at: number;
  least_speed?: typeof LEAST_SPEED;
}

/** Listeners of one event of a streamed answer. */
const LISTENERS_MAX = 20;

/** Closes the connection when its client takes less than the least speed while the answer waits for it. */
function requireSpeed(socket: Socket, response: Response, { bytes, per_ms }: typeof LEAST_SPEED): () => void {
  const takenSoFar = () => socket.bytesWritten - socket.writableLength;
  let before = takenSoFar();
  const timer = setInterval(() => {
    const taken = takenSoFar() - before;
    before += taken;
    if (response.writableNeedDrain && taken < bytes) socket.destroy();
  }, per_ms);
  return () => clearInterval(timer);
}

async function sendStream(
  request: Request,
  response: Response,
  { status, signal, endDeadline }: { status: number } & Pick<RequestSignal, 'signal' | 'endDeadline'>,
  { content_type, chunks, file_name }: Stream,
): Promise<void> {
  const iterator = chunks(signal)[Symbol.asyncIterator]();
  const first = await unlessAborted(iterator.next(), signal);
  endDeadline();
  response.statusCode = status;
  const isCompressed = file_name !== undefined && request.acceptsEncodings('gzip') === 'gzip';
  if (file_name !== undefined) response.attachment(file_name).vary('Accept-Encoding');
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Type', content_type);
  protect(response);
  if (request.httpVersionMajor === 1 && request.httpVersionMinor === 0) resetUnlessFinished(request.socket, response);
  if (request.method === 'HEAD') {
    await iterator.return?.();
    response.end();
    return;
  }
  async function* pieces() {
    if (first.done !== true) yield* piecesOf(first.value);
    for await (const chunk of { [Symbol.asyncIterator]: () => iterator }) yield* piecesOf(chunk);
  }
  try {
    const source = Readable.from(pieces(), { highWaterMark: 1 });
    await (isCompressed
      ? pipeline(source, createGzip({ level: 1 }), response, { signal })
      : pipeline(source, response, { signal }));
  } catch (error) {
    if (!signal.aborted && (error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/**
 * Over HTTP/1.0 the end of the connection is the end of the body. Whatever closes it before the whole was sent resets
 * it, as a part must not look like the whole. With TLS it ends without close_notify then, and cannot be reset.
 */
function resetUnlessFinished(socket: Socket, response: Response): void {
  if (socket instanceof TLSSocket) return;
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => {
    socket.destroy = destroy;
    return response.writableFinished ? destroy(error) : socket.resetAndDestroy();
  };
}

function* piecesOf(chunk: string | Buffer): Generator<Buffer> {
  const bytes = Buffer.from(chunk as Buffer);
  for (let begin = 0; begin < bytes.length; begin += PIECE) yield bytes.subarray(begin, begin + PIECE);
}

/** Answers without a body. 204: done, and there is nothing to show; 304: the client already has the current version. */
export function answerEmpty(response: Response, status: 204 | 304): void {
  response.statusCode = status;
  protect(response);
  response.end();
}

function protect(response: Response): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
}
