import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A merchant's receiver of webhooks. */
export interface Receiver {
  url: string;
  /** Resolves once a webhook of this order has come, also when it came before the question. */
  received(order_id: string): Promise<void>;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const orders = new Map<string, PromiseWithResolvers>();
  const of = (order_id: string) => {
    const known = orders.get(order_id) ?? withResolvers();
    orders.set(order_id, known);
    return known;
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.writeHead(200).end();
      of((JSON.parse(body) as { order_id: string }).order_id).resolve();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async received(order_id) {
      await of(order_id).promise;
      orders.delete(order_id);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface PromiseWithResolvers {
  promise: Promise<void>;
  resolve(): void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
