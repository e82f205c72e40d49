import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { STOP_LIMITS_MS, isLoopback, readNamedFile, type Config } from '../../src/config';
import { Draining } from './draining';
import { answerToRefused } from './errors';
import { boundUnread, inOrder } from './unread-answers';

/**
 * Time limit for sending a request, headers and body together, and the interval at which Node checks it. Milliseconds.
 */
const REQUEST_LIMITS = { request_ms: 30_000, check_ms: 1_000 };
/** Above the idle limit of common load balancers: the server must not hang up first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** How long a client may take nothing of an answer that waits for it (rules 18.9). Milliseconds. */
const ANSWER_MS = 60_000;

/** How often a server that closes looks for connections that have become idle. Milliseconds. */
const IDLE_CHECK_MS = 100;

/** A server that listens. */
export interface Listening {
  /** Where it listens, without a slash at the end; not PUBLIC_URL. */
  readonly url: string;
  readonly port: number;
  /** Accepts no new requests, finishes open ones, then resolves. */
  close(): Promise<void>;
}

interface ListenOptions {
  request_ms: number;
  check_ms: number;
  answer_ms: number;
  /** How the variables of `host` and `port` begin, for messages. */
  variables: 'API' | 'MANAGE';
  /** Begins at the latest when the listener closes. */
  draining: Draining;
}

type ListenConfig = Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'TRUSTED_PROXY'> & { host: string; port: number };

/**
 * Listens with TLS 1.2 or newer where a certificate is configured; in plain http on loopback or for a trusted proxy
 * only (rules 2.4, 2.5). Rejects with one line that says what to set.
 */
export async function listen(
  app: Express,
  config: ListenConfig,
  options: Partial<ListenOptions> = {},
): Promise<Listening> {
  const { request_ms, check_ms, answer_ms, variables, draining }: ListenOptions = {
    ...REQUEST_LIMITS,
    answer_ms: ANSWER_MS,
    variables: 'API',
    draining: new Draining(),
    ...options,
  };
  const tls = readCertificate(config);
  if (!tls && !isLoopback(config.host) && config.TRUSTED_PROXY === '') {
    throw new Error(
      `The ${variables === 'API' ? 'API' : 'bearer-token host'} does not listen in plain http on ${config.host}: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXY to the address of the proxy that ends TLS, or ${variables}_HOST to 127.0.0.1.`,
    );
  }
  // Node would answer a missing Host and an unknown Expect itself, with an empty body. The app refuses the first and
  // may ignore the second (RFC 9110, Expect).
  const server_options = {
    requireHostHeader: false,
    // Node applies the shorter one; a headersTimeout above requestTimeout disables both checks.
    headersTimeout: request_ms,
    requestTimeout: request_ms,
    connectionsCheckingInterval: check_ms,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  };
  const answers: Answers = new WeakMap();
  const begin: http.RequestListener = (request, response) => {
    answers.set(request.socket, response);
    app(request, response);
  };
  // A request that has not begun when its connection closes never ends.
  const handle = inOrder(draining.watch(begin));
  const server = tls
    ? https.createServer({ ...server_options, ...tls, minVersion: 'TLSv1.2' }, handle)
    : http.createServer(server_options, handle);
  // Closes idle connections; longer than the time limit of a request.
  server.setTimeout(answer_ms);
  server.on('checkExpectation', handle);
  answerRefused(server, answers);
  await start(server, config, variables);
  // Its timer ends with the server: one that cannot listen never closes.
  boundUnread(server, check_ms);
  const { port } = server.address() as AddressInfo;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return { url: `${tls ? 'https' : 'http'}://${host}:${port}`, port, close: () => stop(server, draining) };
}

/** The answer of each connection to the request that is handled: those of pipelined requests behind it wait. */
type Answers = WeakMap<Duplex, http.ServerResponse>;

/**
 * Answers a request that Node refuses in the documented shape. Not where the request before it on the connection is
 * carried out: the client would take the refusal for its answer. The connection then ends with that answer.
 */
function answerRefused(server: http.Server, answers: Answers): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const open = answers.get(socket);
    const end = (last?: string) => socket.end(last, () => socket.destroy());
    const is_open = open !== undefined && !open.writableEnded;
    if (!socket.writable || (is_open && open.headersSent)) socket.destroy();
    else if (is_open && open.req.complete) open.once('finish', () => end());
    else end(answerToRefused(error));
  });
}

function readCertificate({ TLS_CERT_FILE, TLS_KEY_FILE }: ListenConfig): { cert: Buffer; key: Buffer } | undefined {
  if (TLS_CERT_FILE === undefined && TLS_KEY_FILE === undefined) return undefined;
  if (TLS_CERT_FILE === undefined) throw new Error('TLS_KEY_FILE is set, TLS_CERT_FILE is not: TLS needs both.');
  if (TLS_KEY_FILE === undefined) throw new Error('TLS_CERT_FILE is set, TLS_KEY_FILE is not: TLS needs both.');
  return { cert: readNamedFile('TLS_CERT_FILE', TLS_CERT_FILE), key: readNamedFile('TLS_KEY_FILE', TLS_KEY_FILE) };
}

async function start(
  server: http.Server,
  { host, port }: ListenConfig,
  variables: ListenOptions['variables'],
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        cause.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is taken: set ${variables}_PORT to a free one.`, { cause })
          : cause,
      );
    });
    server.listen(port, host, resolve);
  });
}

async function stop(server: http.Server, draining: Draining): Promise<void> {
  draining.begin();
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  // Again and again: the answer of a request under way may have begun before, without Connection: close.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const timer = setTimeout(() => server.closeAllConnections(), STOP_LIMITS_MS.listener);
  await ended;
  clearInterval(idle);
  clearTimeout(timer);
}
