import { connect } from 'node:http2';

/** Bytes before a message: whether it is compressed, and its length. */
const PREFIX_BYTES = 5;
const TIMEOUT_MS = 5_000;

/**
 * Calls a gRPC method (`package.Service/Method`) of a server on this machine, by a connection of its own. Returns the
 * message of the answer; `undefined` when there is no answer within five seconds, or an error.
 */
export async function callGrpc(port: number, method: string, message = Buffer.alloc(0)): Promise<Buffer | undefined> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      session.on('error', reject);
      const request = session.request({
        ':method': 'POST',
        ':path': `/${method}`,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      request.setTimeout(TIMEOUT_MS, () => reject(new Error(`${method}: no answer`)));
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('error', reject);
      // An error has no message.
      request.on('end', () =>
        parts.length > 0
          ? resolve(Buffer.concat(parts).subarray(PREFIX_BYTES))
          : reject(new Error(`${method}: failed`)),
      );
      const prefix = Buffer.alloc(PREFIX_BYTES);
      prefix.writeUInt32BE(message.length, 1);
      request.end(Buffer.concat([prefix, message]));
    });
  } catch {
    return undefined;
  } finally {
    session.destroy();
  }
}
