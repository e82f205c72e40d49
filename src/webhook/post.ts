import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { namesPrivateAddress } from './address';
import { NoAddress, publicLookup } from './resolve';

/** The events of the service. Those to merchants have no status (rules 13.2). */
export type WebhookBody = { event: 'status_changed'; order_id: string; project_id: string } | IncidentWebhook;

/** An event to the operator's webhook (rules 26.7). */
interface IncidentWebhook {
  event: 'incident_opened' | 'incident_closed';
  incident_id: string;
  kind: string;
  project_id: string;
}

/** One webhook to send. */
export interface WebhookRequest {
  url: string;
  /** Named in the header webhook-id: the same for every attempt of one notification. */
  webhook_id: string;
  body: WebhookBody;
  /** `whsec_…`, of the project; each signs. */
  secrets: readonly string[];
  /** Milliseconds for connecting (name and TLS included), and again for reading the whole answer. */
  time_limit_ms: number;
  /** Private, loopback and link-local addresses are refused unless this is set. */
  private_addresses: boolean;
  /** The instant that is signed as the time of sending, epoch milliseconds; absent: now. */
  signed_at?: number;
  /**
   * Only in a receiver check (rules 27.3). `cut`: the connection is closed as soon as the answer begins. `in_halves`:
   * the body is sent in two parts, with HALVES_PAUSE_MS between them.
   */
  manner?: 'cut' | 'in_halves' | undefined;
  /** The header of this name (W3C Trace Context); absent while traces are off. */
  traceparent?: string | undefined;
}

/** How it ended; `failure` in words when it does not count as received. */
export interface WebhookAnswer {
  status_code?: number | undefined;
  failure?: string | undefined;
  duration_ms: number;
}

/** How an attempt ended, as metrics name it. */
export function webhookResult({ status_code, failure }: WebhookAnswer) {
  if (failure === undefined) return 'delivered';
  if (status_code !== undefined) return ANSWERED[Math.floor(status_code / 100)] ?? 'other';
  if (failure === PRIVATE_ADDRESS) return 'refused';
  return /took too long$|did not end$/.test(failure) ? 'timeout' : 'no_answer';
}

const ANSWERED: Readonly<Record<number, 'answered_3xx' | 'answered_4xx' | 'answered_5xx'>> = {
  3: 'answered_3xx',
  4: 'answered_4xx',
  5: 'answered_5xx',
};
const PRIVATE_ADDRESS = 'the address is private';

/** The pause in the middle of a body that is sent in halves. Milliseconds. */
const HALVES_PAUSE_MS = 1_000;

export type PostWebhook = (webhook: WebhookRequest) => Promise<WebhookAnswer>;

/**
 * Sends one webhook: signed as Standard Webhooks, redirects not followed, any 2xx counts as received, its body is
 * ignored. Settles within twice the time limit and never throws: failures are returned (rules 13.4, 13.5).
 */
export const postWebhook: PostWebhook = async ({
  url,
  webhook_id,
  body,
  secrets,
  time_limit_ms,
  private_addresses,
  signed_at,
  manner,
  traceparent,
}) => {
  const started = performance.now();
  const ended = (answer: Omit<WebhookAnswer, 'duration_ms'>): WebhookAnswer => ({
    ...answer,
    duration_ms: Math.round(performance.now() - started),
  });
  if (!private_addresses && namesPrivateAddress(url)) return ended({ failure: PRIVATE_ADDRESS });

  const text = JSON.stringify(body);
  const sent = new Date(signed_at ?? Date.now());
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'user-agent': 'payments-webhook/1',
    'webhook-id': webhook_id,
    'webhook-timestamp': String(Math.floor(sent.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(webhook_id, sent, text)).join(' '),
    ...(traceparent !== undefined && { traceparent }),
  };
  try {
    // Where private addresses are allowed, names of the machine's own hosts file are too.
    const lookup = private_addresses ? undefined : publicLookup;
    const status_code = await exchange(url, { headers, text, time_limit_ms, lookup, manner });
    const received = status_code >= 200 && status_code < 300;
    return ended({ status_code, failure: received ? undefined : `answered ${status_code}` });
  } catch (error) {
    return ended({ failure: inWords(error) });
  }
};

interface Exchange {
  headers: OutgoingHttpHeaders;
  text: string;
  time_limit_ms: number;
  lookup: LookupFunction | undefined;
  manner: WebhookRequest['manner'];
}

/** A failure whose message is shown to the merchant. */
class NoAnswer extends Error {}

/**
 * Addresses of a host are tried one after the other, each for its part of the time: the part is longer than Node's 250
 * ms, as far receivers, and those whose first packet was lost, take longer to connect.
 */
const ADDRESSES_TRIED = 3;

/** At most this much is read, counted from the first byte on the connection. */
const BYTES_READ_MAX = 64 * 1024;

/**
 * The status code, once the whole answer is read or more than enough of it. The connection is the request's own and is
 * closed at the end. Whichever comes first settles the promise: the answer, an event of the connection, or the timer,
 * which needs no event.
 */
async function exchange(url: string, { headers, text, time_limit_ms, lookup, manner }: Exchange): Promise<number> {
  const tls = new URL(url).protocol === 'https:';
  const each_ms = Math.ceil(time_limit_ms / ADDRESSES_TRIED);
  const addresses = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: each_ms };
  return await new Promise((resolve, reject) => {
    const request = (tls ? https : http).request(url, {
      method: 'POST',
      headers,
      agent: false,
      // A receiver that speaks HTTP/2 only then refuses at once.
      ...(tls ? { ALPNProtocols: ['http/1.1'] } : {}),
      ...(lookup ? { lookup } : {}),
      ...addresses,
    });
    const end = () => {
      clearTimeout(timer);
      request.destroy();
    };
    const succeed = ({ statusCode }: IncomingMessage) => (resolve(statusCode ?? 0), end());
    const fail = (error: Error) => (reject(error), end());
    const limit = (what: string) => setTimeout(() => fail(new NoAnswer(`${what} took too long`)), time_limit_ms);
    const isTooLong = () => (request.socket?.bytesRead ?? 0) > BYTES_READ_MAX;

    let timer = limit('connecting');
    request.once('socket', (socket) =>
      socket.once(tls ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer);
        timer = limit('reading');
      }),
    );
    request.on('error', fail);
    // Not every way a connection ends is an error: without this the promise would stay pending.
    request.once('close', () => fail(new NoAnswer(CONNECTION_BROKE)));
    // A server may send informational answers (1xx) without end.
    request.on('information', () => {
      if (isTooLong()) fail(new NoAnswer('the answer is too long'));
    });
    request.once('upgrade', (response, socket) => {
      socket.destroy();
      succeed(response);
    });
    request.once('response', (response) => {
      if (manner === 'cut') return succeed(response);
      response.on('data', () => {
        if (isTooLong()) succeed(response);
      });
      response.once('end', () => succeed(response));
      response.on('error', fail);
    });
    if (manner !== 'in_halves') return void request.end(text);
    const half = text.length >> 1;
    request.write(text.slice(0, half));
    // It does nothing once the promise is settled.
    setTimeout(() => request.end(text.slice(half)), HALVES_PAUSE_MS);
  });
}

const CONNECTION_BROKE = 'the connection broke';
/** The reason shown to the merchant, by the error's code. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the name of the host is unknown'],
  [/^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/, 'the host cannot be reached'],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/, 'the TLS certificate is not valid for the host'],
  [/^(EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/, 'TLS could not be agreed on'],
  [/^HPE_HEADER_OVERFLOW$/, 'the headers of the answer are too long'],
  [/^HPE_/, 'the answer is not HTTP/1.1'],
];

function inWords(error: unknown): string {
  if (error instanceof NoAnswer || error instanceof NoAddress) return error.message;
  if (error instanceof URIError) return 'the user name or password of the address is not in percent-encoding';
  const { code } = error as { code?: unknown };
  return FAILURES.find(([codes]) => codes.test(String(code)))?.[1] ?? CONNECTION_BROKE;
}
