import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A merchant's webhook receiver: a real HTTP server that records what comes and answers as it is told. */
export interface Receiver {
  url: string;
  received: Received[];
  /** How each further request is answered; `n` counts from 1. */
  answer(how: (response: ServerResponse, n: number, request: Received) => void): void;
  /** Resolves once `count` requests came, or rejects after `within_ms`. */
  waitFor(count: number, within_ms?: number): Promise<Received[]>;
  close(): Promise<void>;
}

/** The service sends again after two minutes what a busy machine did not take in time. */
const PATIENCE_MS = 150_000;

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let how: Parameters<Receiver['answer']>[0] = (response) => response.writeHead(200).end();
  let wake = () => {};
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const one = { at: Date.now(), path: request.url ?? '', headers: request.headers, body };
      received.push(one);
      how(response, received.length, one);
      wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (next) => (how = next),
    async waitFor(count, within_ms = PATIENCE_MS) {
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
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
