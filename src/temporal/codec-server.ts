import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { EncryptingCodec } from './payload-codec';

/** The largest page of a history that the Web UI sends at once. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

export interface CodecServer {
  url: string;
  close(): Promise<void>;
}

/**
 * Lets an operator's browser read payloads in the Temporal Web UI: `POST /decode` and `/encode` with payloads as Temporal's JSON,
 * answered alike. Only pages of `ui_origin` may read its answers. It belongs on loopback or behind the operators' own sign-in:
 * anyone who reaches it can read histories.
 */
export async function startCodecServer(options: {
  host: string;
  port: number;
  payload_keys: string;
  ui_origin: string;
}): Promise<CodecServer> {
  const codec = new EncryptingCodec(options.payload_keys);
  const work: Record<string, (payloads: Payload[]) => Promise<Payload[]>> = {
    '/decode': (payloads) => codec.decode(payloads),
    '/encode': (payloads) => codec.encode(payloads),
  };
  const server = http.createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', options.ui_origin);
    response.setHeader('Access-Control-Allow-Methods', 'POST');
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type, X-Namespace, Authorization');
    response.setHeader('Vary', 'Origin');
    const { pathname } = new URL(request.url ?? '/', 'http://codec');
    const handle = work[pathname.replace(/\/$/, '')];
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    if (request.method !== 'POST' || handle === undefined) return void response.writeHead(404).end();
    void answer(request, handle).then(
      (text) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(text),
      // Gives no reason: it may contain the payload.
      () => response.writeHead(400).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    url: `http://${options.host}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const { Payloads } = temporal.api.common.v1;

async function answer(
  request: http.IncomingMessage,
  handle: (payloads: Payload[]) => Promise<Payload[]>,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('too large');
    chunks.push(chunk);
  }
  const { payloads } = Payloads.fromObject(JSON.parse(Buffer.concat(chunks).toString()) as object);
  return JSON.stringify(
    Payloads.toObject(Payloads.create({ payloads: await handle(payloads ?? []) }), { bytes: String }),
  );
}
