import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A server that answers every gRPC call with a status of the test's choice, and counts the calls. */
export interface RefusingServer {
  address: string;
  calls: () => number;
  close(): Promise<void>;
}

/** `status`: the number that gRPC gives it; a function may change its mind. */
export async function aRefusingServer(status: number | (() => number)): Promise<RefusingServer> {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    close: () =>
      new Promise((resolve) => {
        for (const session of sessions) session.destroy();
        server.close(() => resolve());
      }),
  };
}
