import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Request, Response } from 'express';
import type { Stream } from '../operation';

/** How long a reader of a stream may take nothing before the connection is closed, in milliseconds. */
const READER_TIMEOUT_MS = 30_000;

/**
 * Answers with JSON. Not with res.json, which appends a charset to the type: clients compare it exactly (rules 1.2). No
 * answer of the API may be cached or framed.
 */
export function answer(response: Response, status: number, body: unknown): void {
  const content = Buffer.from(JSON.stringify(body));
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', content.length);
  protect(response);
  response.end(content);
}

/**
 * Answers with a stream, as fast as the reader takes it. Rejects with what fails before the first chunk; after it the
 * connection is closed, as a part must not look like the whole. A reader who goes away ends the stream.
 */
export async function answerStream(
  request: Request,
  response: Response,
  status: number,
  { content_type, chunks, file_name }: Stream,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  response.statusCode = status;
  const isCompressed = file_name !== undefined && request.acceptsEncodings('gzip') === 'gzip';
  if (file_name !== undefined) response.attachment(file_name).vary('Accept-Encoding');
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Type', content_type);
  protect(response);
  if (request.method === 'HEAD') {
    await iterator.return?.();
    response.end();
    return;
  }
  response.setTimeout(READER_TIMEOUT_MS, () => response.destroy());
  async function* all() {
    if (first.done === true) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  try {
    const source = Readable.from(all(), { highWaterMark: 1 });
    await (isCompressed ? pipeline(source, createGzip({ level: 1 }), response) : pipeline(source, response));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** Answers 304: the client already has the current version. */
export function notModified(response: Response): void {
  response.statusCode = 304;
  protect(response);
  response.end();
}

/** Answers 204: done, and there is nothing to show. */
export function noContent(response: Response): void {
  response.statusCode = 204;
  protect(response);
  response.end();
}

function protect(response: Response): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
}
