import type { ServerResponse } from 'node:http';
import { startReceiver, type Received, type Receiver } from '../../test/support/servers';

/** Receivers of webhooks that fail in ten ways. */

type Way = (response: ServerResponse) => void;

const hold = (response: ServerResponse, ms: number) => setTimeout(() => response.end(), ms).unref();

const WAYS_TO_FAIL: Readonly<Record<string, Way>> = {
  'answers 500': (response) => void response.writeHead(500).end(),
  'answers 404': (response) => void response.writeHead(404).end(),
  'answers 302': (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'answers 101': (response) => void response.socket?.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  'resets the connection': (response) => void response.socket?.resetAndDestroy(),
  'closes without an answer': (response) => void response.socket?.end(),
  'answers nonsense': (response) => void response.socket?.end('webhook received, thanks\n'),
  'answers too late': (response) => void hold(response, 12_000),
  'stops in the middle': (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('half');
    hold(response, 12_000);
  },
  'never ends': (response) => {
    const timer = setInterval(() => response.write('more '), 1_000);
    response.once('close', () => clearInterval(timer));
  },
};

/**
 * A receiver that fails a share of the first attempts, in a way that follows from the order's id and the number of the
 * webhook; `failed` counts by way. Later attempts are received.
 */
export async function startFailingReceiver(share: number): Promise<Receiver & { failed: Record<string, number> }> {
  const receiver = await startReceiver();
  const failed: Record<string, number> = Object.fromEntries(Object.keys(WAYS_TO_FAIL).map((way) => [way, 0]));
  const seen = new Set<string>();
  const ways = Object.entries(WAYS_TO_FAIL);
  receiver.answer((response, _n, request) => {
    const [chance, choice] = numbersOf(request);
    const id = String(request.headers['webhook-id']);
    if (seen.has(id) || chance >= share) return void response.writeHead(200).end();
    seen.add(id);
    const [way, fail] = ways[Math.floor(choice * ways.length)]!;
    failed[way] = (failed[way] ?? 0) + 1;
    fail(response);
  });
  return Object.assign(receiver, { failed });
}

/** Two numbers from 0 to 1 by the id of the webhook. */
function numbersOf({ headers }: Received): [number, number] {
  let hash = 2_166_136_261;
  for (const character of String(headers['webhook-id'])) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0;
  }
  return [(hash % 1_000) / 1_000, (Math.floor(hash / 1_000) % 1_000) / 1_000];
}
