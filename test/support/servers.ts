import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Received {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** The service sends again after two minutes what a busy machine did not take in time. */
const PATIENCE_MS = 150_000;

/** A merchant's webhook receiver: a real HTTP server that records what comes and answers as it is told. */
export async function startReceiver() {
  const received: Received[] = [];
  let how = (response: ServerResponse, _n: number, _request: Received): void => void response.writeHead(200).end();
  let wake = () => {};
  const server = createHttpServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const one = { at: Date.now(), path: request.url ?? '', headers: request.headers, body };
      received.push(one);
      how(response, received.length, one);
      wake();
    });
  });
  const { port } = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    /** How each further request is answered; `n` counts from 1. */
    answer: (next: (response: ServerResponse, n: number, request: Received) => void) => void (how = next),
    /** Resolves once `count` requests came, or rejects after `within_ms`. */
    async waitFor(count: number, within_ms = PATIENCE_MS): Promise<Received[]> {
      const deadline = Date.now() + within_ms;
      while (received.length < count) {
        const left = deadline - Date.now();
        if (left <= 0) throw new Error(`${received.length} of ${count} webhooks came within ${within_ms} ms`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          wake = () => (clearTimeout(timer), resolve());
        });
      }
      return received;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server that accepts connections and never answers. */
export async function aSilentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  const { port } = await listening(server);
  return {
    address: `127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A server that answers every gRPC call with a status of the test's choice, by its number, and counts the calls; a
 * function may change its mind.
 */
export async function aRefusingServer(status: number | (() => number)) {
  let calls = 0;
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream) => {
    calls += 1;
    const code = typeof status === 'number' ? status : status();
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(code), 'grpc-message': 'why' },
      { endStream: true },
    );
  });
  const { port } = await listening(server);
  return {
    address: `127.0.0.1:${port}`,
    calls: () => calls,
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The free port of this machine that the server listens on. */
async function listening(server: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address() as AddressInfo;
}
