import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import type { Logger } from '../log';
import type { Notification } from '../processor/wire';
import { presentOperation } from './ledger';
import type { ClaimedNotification } from './notifications';
import type { Store } from './store';

/** Attempts of one notification: 1, 2, 4, … up to 300 seconds apart, about three days. */
const ATTEMPTS_MAX = 900;
/** Time limit of one attempt in milliseconds. */
const TIMEOUT_MS = 5_000;

/**
 * Sends what is queued to one address until it is received, signed with a Standard Webhooks secret (`whsec_…`). Any 2xx
 * counts as received.
 */
export function createNotifier(options: {
  store: Store;
  url: string;
  secret: string;
  public_url: string;
  log: Logger;
}) {
  const { store, url, public_url, log } = options;
  const webhook = new Webhook(options.secret);
  const agent = new Agent({ connect: { timeout: TIMEOUT_MS } });

  async function attempt({ id, idempotency_key, attempts }: ClaimedNotification, now: Date): Promise<void> {
    const body = JSON.stringify(await contentOf(idempotency_key));
    const status = await post(id, body, now).catch((error: unknown) =>
      error instanceof Error ? error.message : 'no answer',
    );
    if (typeof status === 'number' && status >= 200 && status <= 299) await store.notifications.markSent(id, now);
    else log.warn({ id, idempotency_key, attempts, status }, 'notification was not received');
  }

  async function contentOf(idempotency_key: string | null): Promise<Notification> {
    const row = idempotency_key === null ? undefined : await store.operation(idempotency_key);
    if (row === undefined) return { type: 'settlements.created' };
    return { type: 'operation.updated', operation: presentOperation(row, public_url) };
  }

  async function post(id: string, body: string, now: Date): Promise<number> {
    const answer = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': webhook.sign(id, now, body),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body.dump();
    return answer.statusCode;
  }

  return {
    /** One round over all due notifications. Throws if Postgres does not answer; a failed attempt becomes due again. */
    async send(now: Date): Promise<void> {
      const claimed = await store.notifications.claim(now, ATTEMPTS_MAX);
      await Promise.all(claimed.map((notification) => attempt(notification, now)));
    },
    close: (): Promise<void> => agent.destroy(),
  };
}
