import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { connectDatabase } from '../db/connection';
import { recordAttempt } from '../db/webhooks/deliveries';
import { insertOrder } from '../db/orders/insert-order';
import { moveOrder } from '../db/orders/move-order';
import type { WebhookSecretVault } from '../db/webhooks/webhook-secrets';
import { SecretKeys } from '../secrets';
import { acceptRequest } from '../domain/accepted-request';
import type { NewOrder } from '../domain/new-order';
import { createWorkflowClients, type WorkflowClients } from '../temporal/workflows';
import { durationsAtPace, quantile } from './figures';
import type { BenchRow } from './rows';
import { insertProjects } from './merchant';
import type { BenchStack } from './stack';

/** Milliseconds from the request for a paid order to the arrival of its webhook. */
export interface Latency {
  p50: number;
  p95: number;
}

/** A project's webhooks alone, and while the receivers of another are silent. */
export interface SilentReceivers {
  deliveries: number;
  alone: Latency;
  beside: Latency;
}

/** So many deliveries to silent receivers begin each second; each holds its connection until its time limit is over. */
const SILENT_A_SECOND = 12;
/** Between two of the orders that are measured, in milliseconds: the machine is to have time for both projects. */
const PAUSE_MS = 250;

/**
 * Measures one project's row alone, then for as long as another project's deliveries begin. Every second of those is at
 * its first attempt, the others at their second, which may take longer.
 */
export async function measureBesideSilentReceivers(
  row: BenchRow,
  { facts, variables }: BenchStack,
  client: Client,
  deliveries: number,
): Promise<SilentReceivers> {
  const duration_ms = (deliveries / SILENT_A_SECOND) * 1_000;
  const alone = await latencyOf(row, duration_ms / 2);
  const silent = await startSilentServer();
  const db = connectDatabase(facts.postgres_url);
  try {
    const waiting = await insertDeliveries(
      { db, secrets: new SecretKeys(variables['SECRET_KEYS'] ?? '') },
      deliveries,
      silent.url,
    );
    const workflows = createWorkflowClients({ client, db }).deliveries;
    const [beside] = await Promise.all([
      latencyOf(row, duration_ms),
      durationsAtPace((n) => workflows.start(waiting[n]!), { count: deliveries, pause_ms: 1_000 / SILENT_A_SECOND }),
    ]);
    return { deliveries, alone, beside };
  } finally {
    silent.close();
    await db.destroy();
  }
}

const ORDER = {
  currency: 'EUR',
  amount: 100,
  attempts_max: 1,
  charged_by: 'customer',
  expiration_period: 'PT30M',
} as const;
const FAILED = { attempt: 1, time_limit_ms: 4_000, duration_ms: 4_000, failure: 'reading took too long' };

async function latencyOf(row: BenchRow, duration_ms: number): Promise<Latency> {
  const taken = await durationsAtPace(() => row.once(undefined), {
    count: Math.ceil(duration_ms / PAUSE_MS),
    pause_ms: PAUSE_MS,
  });
  return { p50: quantile(taken, 0.5), p95: quantile(taken, 0.95) };
}

type NewDelivery = Parameters<WorkflowClients['deliveries']['start']>[0];

/** Webhooks of a project of their own, written but not sent: each of a cancelled order. */
async function insertDeliveries(
  { db, secrets }: WebhookSecretVault,
  count: number,
  webhook_url: string,
): Promise<NewDelivery[]> {
  const now = Date.now();
  const [project_id = ''] = await insertProjects({ db, secrets }, 'Silent', 1);
  const deliveries: NewDelivery[] = [];
  const request = acceptRequest({
    request_id: uuidv7(),
    received_at: now,
    deadline_at: now,
    has_idempotency_key: true,
  });
  for (let i = 0; i < count; i += 1) {
    const order: NewOrder = { ...ORDER, id: uuidv7(), project_id, webhook_url };
    const record = await insertOrder(db, order, undefined, {
      created: now,
      expires_at: now,
      transaction_expires_at: now,
      request,
    });
    await moveOrder(db, record, { ended: 'cancelled' }, { source: 'merchant', now });
    const id = { order_id: order.id, n: 1 };
    const due = { status: 'new', next_attempt_at: now } as const;
    if (i % 2 === 1) await recordAttempt(db, id, { ...FAILED, started: now }, due);
    deliveries.push({ ...id, project_id });
  }
  return deliveries;
}

/** Takes every connection and never answers. */
async function startSilentServer(): Promise<{ url: string; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
