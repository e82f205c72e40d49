import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { isUnavailable } from '../db/availability';
import type { Database } from '../db/query';
import { recordChange } from '../db/projects/audit-trail';
import { holdsCardNumber } from '../domain/card';
import { serveHttp, type HttpServer } from '../http-server';
import type { Logger } from '../log';
import { SignInUnavailable, type SignIn } from './operator-sign-in';
import { PayloadCipher, isEncrypted } from './payload-codec';

/** The largest page of a history that the Web UI sends at once. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Decrypts payloads for the Temporal Web UI in an operator's browser, and encrypts the arguments of updates: `POST
 * /decode` and `/encode` take and return payloads as Temporal's JSON. Only for signed-in operators and pages of
 * `ui_origin` (rules 24.5). Cookies are accepted from these pages, for a proxy that signs operators in by cookie.
 *
 * What is decrypted is in the audit trail before it is sent; while Postgres is unavailable nothing is decrypted.
 *
 * The Web UI does not send the workflow of a payload. Payloads encrypted here carry the operator's name instead, and
 * workers accept them only in updates meant for operators (rules 24.9). Payloads with a card number are refused: the
 * history would keep them.
 */
export async function startCodecServer(options: {
  host: string;
  port: number;
  payload_keys: string;
  ui_origin: string;
  signIn: SignIn;
  /** Of the audit trail. */
  db: Database;
  log: Logger;
}): Promise<HttpServer> {
  const { ui_origin, signIn, db, log } = options;
  const cipher = new PayloadCipher(options.payload_keys);
  const work: Record<string, (payload: Payload, request: { operator: string; read: Reads }) => Payload> = {
    '/decode': (payload, { read }) => {
      if (!isEncrypted(payload)) return payload;
      const { payload: decrypted, workflow_id = 'unknown' } = cipher.decrypt(payload);
      read.set(workflow_id, (read.get(workflow_id) ?? 0) + 1);
      return decrypted;
    },
    '/encode': (payload, { operator }) => {
      if (holdsCardNumber(Buffer.from(payload.data ?? []).toString())) throw new Error('a card number');
      return cipher.encryptForOperator(payload, operator);
    },
  };
  /** Answers a POST. Refusals give no reason, which might contain the payload. */
  const handle = async (request: IncomingMessage, response: ServerResponse, path: string) => {
    if (request.headers.origin !== ui_origin) return void response.writeHead(403).end();
    const operator = await signIn(request);
    if (operator === undefined) return void response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
    const read: Reads = new Map();
    const { text, payloads } = await answer(request, (payload) => work[path]!(payload, { operator, read }));
    await recordReads(db, operator, read);
    log.info({ operator, path, payloads }, 'payloads were read or written');
    response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(text);
  };
  return await serveHttp((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', ui_origin);
    response.setHeader('Access-Control-Allow-Credentials', 'true');
    response.setHeader('Access-Control-Allow-Methods', 'POST');
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type, X-Namespace, Authorization');
    response.setHeader('Vary', 'Origin');
    const path = request.url!.split('?', 1)[0]!.replace(/\/$/, '');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    if (request.method !== 'POST' || !Object.hasOwn(work, path)) return void response.writeHead(404).end();
    handle(request, response, path).catch((err: unknown) => {
      const is_unavailable = err instanceof SignInUnavailable;
      if (is_unavailable) log.warn({ err: err.cause }, 'operators cannot sign in');
      const is_unrecorded = isUnavailable(err);
      if (is_unrecorded) log.warn({ err }, 'the audit trail cannot be written, so nothing is decrypted');
      response.writeHead(is_unavailable || is_unrecorded ? 503 : 400).end();
    });
  }, options);
}

/** Numbers of decrypted payloads, by the workflow for which they were encrypted. */
type Reads = Map<string, number>;

/** Writes an entry of the audit trail for each workflow whose payloads an operator reads (rules 24.18). */
async function recordReads(db: Database, operator: string, read: Reads): Promise<void> {
  if (read.size === 0) return;
  await db.transaction(async (trx) => {
    for (const [id, payloads] of read) {
      const change = { action: 'payload.decrypt', object: { kind: 'workflow', id }, after: { payloads } };
      await recordChange(trx, change, { actor: { kind: 'temporal', id: operator } }, new Date());
    }
  });
}

const { Payloads } = temporal.api.common.v1;

async function answer(
  request: IncomingMessage,
  handle: (payload: Payload) => Payload,
): Promise<{ text: string; payloads: number }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('too large');
    chunks.push(chunk);
  }
  const { payloads } = Payloads.fromObject(JSON.parse(Buffer.concat(chunks).toString()) as object);
  const handled = Payloads.create({ payloads: (payloads ?? []).map((payload) => handle(payload)) });
  return { text: JSON.stringify(Payloads.toObject(handled, { bytes: String })), payloads: handled.payloads.length };
}
