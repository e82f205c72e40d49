import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Milliseconds that a readiness probe may take. A proxy waits longer for the answer. */
export const PROBE_TIMEOUT_MS = 2_000;

/** A server that listens beside the hosts, without their limits. */
export interface HttpServer {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Answers with `listener`; on a free port where `port` is 0. Rejects when the port is taken. */
export async function serveHttp(
  listener: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<HttpServer> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: listens_on } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listens_on}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
