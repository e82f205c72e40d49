import { lookup } from 'node:dns';
import http, { type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { isPublicAddress, namesPrivateAddress } from './address';

/** One notification to send; the body carries no status (rules 13.2). */
export interface WebhookRequest {
  url: string;
  /** Named in the header webhook-id: the same for every attempt of one notification. */
  webhook_id: string;
  body: { event: 'status_changed'; order_id: string; project_id: string };
  /** `whsec_…`, of the project. */
  secret: string;
  /** Milliseconds for connecting, and again for reading. */
  time_limit_ms: number;
  /** Private, loopback and link-local addresses are refused unless this is set. */
  private_addresses: boolean;
}

/** How it ended; `failure` in words when it does not count as received. */
export interface WebhookAnswer {
  status_code?: number;
  failure?: string;
  duration_ms: number;
}

export type PostWebhook = (webhook: WebhookRequest) => Promise<WebhookAnswer>;

class PrivateAddress extends Error {}

/** Refuses when connecting, after the name was resolved: a name may point elsewhere a second later. */
const publicLookup: typeof lookup = ((
  hostname: string,
  options: object,
  callback: (error: Error | null, ...found: unknown[]) => void,
) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error);
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused) return callback(new PrivateAddress('the address is private'));
    return 'all' in options && options.all
      ? callback(null, addresses)
      : callback(null, addresses[0]?.address, addresses[0]?.family);
  });
}) as typeof lookup;

/** At most this much of an answer is read: its body is ignored. */
const ANSWER_BYTES_MAX = 64 * 1024;

class TookTooLong extends Error {}

/**
 * Sends one webhook: signed as Standard Webhooks, redirects not followed, any 2xx counts as received. Never throws: failures are
 * returned.
 */
export const postWebhook: PostWebhook = async ({ url, webhook_id, body, secret, time_limit_ms, private_addresses }) => {
  const started = performance.now();
  const ended = (answer: Omit<WebhookAnswer, 'duration_ms'>): WebhookAnswer => ({
    ...answer,
    duration_ms: Math.round(performance.now() - started),
  });
  if (!private_addresses && namesPrivateAddress(url)) return ended({ failure: 'the address is private' });

  const text = JSON.stringify(body);
  const sent = new Date();
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'user-agent': 'payments-webhook/1',
    'webhook-id': webhook_id,
    'webhook-timestamp': String(Math.floor(sent.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(webhook_id, sent, text),
  };
  try {
    const status_code = await post(url, {
      headers,
      text,
      time_limit_ms,
      lookup: private_addresses ? undefined : publicLookup,
    });
    return ended(
      status_code >= 200 && status_code < 300 ? { status_code } : { status_code, failure: `answered ${status_code}` },
    );
  } catch (error) {
    return ended({ failure: inWords(error) });
  }
};

interface Post {
  headers: OutgoingHttpHeaders;
  text: string;
  time_limit_ms: number;
  lookup: typeof lookup | undefined;
}

/** The status code, once the answer is read. The limit holds for connecting, and again for all of the answer. */
async function post(url: string, { headers, text, time_limit_ms, lookup: resolveName }: Post): Promise<number> {
  return await new Promise((resolve, reject) => {
    const { request: send } = url.startsWith('https:') ? https : http;
    const request = send(url, {
      method: 'POST',
      headers,
      agent: false,
      ...(resolveName ? { lookup: resolveName as LookupFunction } : {}),
    });
    const limit = (what: string) =>
      setTimeout(() => request.destroy(new TookTooLong(`${what} took too long`)), time_limit_ms);
    let timer = limit('connecting');
    request.once('socket', (socket) =>
      socket.once(url.startsWith('https:') ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer);
        timer = limit('reading');
      }),
    );
    request.once('error', reject);
    request.once('close', () => clearTimeout(timer));
    request.once('response', (response) => {
      let bytes = 0;
      const read = () => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) read();
      });
      response.once('end', read);
      response.once('error', reject);
    });
    request.end(text);
  });
}

function inWords(error: unknown): string {
  if (error instanceof TookTooLong || error instanceof PrivateAddress) return error.message;
  switch ((error as { code?: string }).code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the name of the host is unknown';
    default:
      return 'the connection broke';
  }
}
