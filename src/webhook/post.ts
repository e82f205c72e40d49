import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';

/** One notification to send; the body carries no status (specification, Events). */
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

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast';
}

class PrivateAddress extends Error {}

/** Refuses at connecting time, when the name has become an address: a name may point elsewhere a second later. */
const publicLookup: typeof lookup = ((hostname: string, options: object, callback: (error: Error | null, ...found: unknown[]) => void) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error);
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused) return callback(new PrivateAddress('the address is private'));
    return 'all' in options && options.all ? callback(null, addresses) : callback(null, addresses[0]?.address, addresses[0]?.family);
  });
}) as typeof lookup;

/** Reads at most this much of an answer: the body is ignored. */
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * Sends one webhook: signed as Standard Webhooks, redirects not followed, any 2xx counts as received.
 * Never throws: whatever goes wrong is the answer.
 */
export const postWebhook: PostWebhook = async ({ url, webhook_id, body, secret, time_limit_ms, private_addresses }) => {
  const started = performance.now();
  const ended = (answer: Omit<WebhookAnswer, 'duration_ms'>): WebhookAnswer => ({ ...answer, duration_ms: Math.round(performance.now() - started) });
  const { hostname } = new URL(url);
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (!private_addresses && isIP(literal) !== 0 && !isPublicAddress(literal)) return ended({ failure: 'the address is private' });

  const text = JSON.stringify(body);
  const sent = new Date();
  const agent = new Agent({
    connect: { timeout: time_limit_ms, ...(private_addresses ? {} : { lookup: publicLookup }) },
    headersTimeout: time_limit_ms,
    bodyTimeout: time_limit_ms,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'payments-webhook/1',
        'webhook-id': webhook_id,
        'webhook-timestamp': String(Math.floor(sent.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(webhook_id, sent, text),
      },
      body: text,
      // A receiver that drips bytes may not hold the attempt for ever.
      signal: AbortSignal.timeout(2 * time_limit_ms),
    });
    const received = answer.statusCode >= 200 && answer.statusCode < 300;
    await answer.body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => undefined);
    return ended(received ? { status_code: answer.statusCode } : { status_code: answer.statusCode, failure: `answered ${answer.statusCode}` });
  } catch (error) {
    return ended({ failure: inWords(error) });
  } finally {
    await agent.destroy();
  }
};

function inWords(error: unknown): string {
  if (error instanceof PrivateAddress) return 'the address is private';
  switch ((error as { code?: string; name?: string }).code ?? (error as Error).name) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'connecting took too long';
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
    case 'TimeoutError':
      return 'reading took too long';
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the name of the host is unknown';
    default:
      return 'the connection broke';
  }
}
