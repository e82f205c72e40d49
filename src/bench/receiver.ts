import { EventEmitter, once } from 'node:events';
import { serveHttp } from '../http-server';

/** A merchant's receiver of webhooks. */
export interface WebhookReceiver {
  url: string;
  /** Resolves once a webhook of this order has come, also when it came before the question. */
  received(order_id: string): Promise<void>;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const came = new Set<string>();
  // One waits for each webhook.
  const coming = new EventEmitter().setMaxListeners(0);
  const server = await serveHttp(
    (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response.writeHead(200).end();
        const { order_id } = JSON.parse(body) as { order_id: string };
        if (!coming.emit(order_id)) came.add(order_id);
      });
    },
    { host: '127.0.0.1', port: 0 },
  );
  return {
    url: `${server.url}/`,
    async received(order_id) {
      if (!came.delete(order_id)) await once(coming, order_id);
    },
    close: () => server.close(),
  };
}
