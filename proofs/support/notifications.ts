import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { LedgerEntry, Notification } from '../../src/processor/wire';
import { transactionId } from '../../src/ids';
import { readVariables } from '../../src/stack/launch';
import { readLedger } from '../../test/support/ledger';
import { postControl, type RunningStack } from '../../test/support/stack';

/** Sends a notification of an order as the processor never should. Returns how many were sent. */
type Way = (stack: RunningStack, order_id: string) => Promise<number>;

/** Lets the processor notify about these operations, one after the other. */
async function notify(stack: RunningStack, entries: readonly LedgerEntry[]): Promise<number> {
  for (const { idempotency_key } of entries) await postControl(stack, 'notifications', { idempotency_key });
  return entries.length;
}

/** Posts a notification as the processor does; `body` with its signature, which may be wrong. */
async function post(stack: RunningStack, body: string, signature?: string): Promise<number> {
  const secret = readVariables(stack.data_dir)['PROCESSOR_NOTIFICATION_SECRET'] ?? '';
  const [id, now] = [`msg_${Math.random()}`, new Date()];
  await fetch(`${stack.api_url}/processor/notifications/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signature ?? new Webhook(secret).sign(id, now, body),
    },
    body,
  });
  return 1;
}

/** A notification of the payment of an order that says approved, whatever the processor knows. */
function approvalOf(order_id: string): Notification {
  const transaction_id = transactionId(order_id, 1);
  return {
    type: 'operation.updated',
    operation: {
      ...{ operation: 'sale', result: 'approved', response_code: '00', occurred: new Date().toISOString() },
      ...{ idempotency_key: `${transaction_id}:charge`, order_id, transaction_id, amount: 100, currency: 'EUR' },
    },
  };
}

export const WRONG_NOTIFICATIONS = {
  twice: async (stack, order_id) => {
    const entries = await readLedger(order_id, stack);
    const [sent] = await Promise.all([notify(stack, entries), notify(stack, entries)]);
    return sent;
  },
  late: async (stack, order_id) => {
    await sleep(5_000);
    return await notify(stack, await readLedger(order_id, stack));
  },
  'out of order': async (stack, order_id) => {
    const entries = await readLedger(order_id, stack);
    return await notify(stack, entries.length < 2 ? [] : entries.toReversed());
  },
  early: async (stack, order_id) => await post(stack, JSON.stringify(approvalOf(order_id))),
  garbage: async (stack) => await post(stack, '{"type": "operation.updated", "operation": {"order_id": 7'),
  forged: async (stack, order_id) =>
    await post(stack, JSON.stringify(approvalOf(order_id)), `v1,${Buffer.alloc(32).toString('base64')}`),
} satisfies Record<string, Way>;

export type WrongNotification = keyof typeof WRONG_NOTIFICATIONS;
