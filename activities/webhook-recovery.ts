import { setTimeout as sleep } from 'node:timers/promises';
import { readWithin, required, type Database } from '../src/db/query';
import {
  countToRecover,
  findWebhookRecovery,
  findWebhookRecoveryState,
  isStillToRecover,
  moveWebhookRecovery,
  nextToRecover,
  noteRecovered,
  takeToRecover,
  unattemptedDeliveries,
  type FailedDelivery,
  type WebhookRecoveryState,
} from '../src/db/webhooks/recoveries';
import { insertRedelivery } from '../src/db/webhooks/stored-deliveries';
import { WEBHOOK_RECOVERY_MOVES, isFinal } from '../src/domain/transitions';
import { RECOVERED_AT_ONCE, RECOVERED_PER_SECOND, type WebhookRecoveryProgress } from '../src/domain/webhook-recovery';
import { currentTimeOf } from '../src/time';
import { setCause } from '../src/tracing/cause';
import { webhookRecoveryWorkflowId, type WebhookRecoveryInput } from '../workflows/messages';
import { workForAPart } from './part';
import type { ActivityServices } from './services';

type RecoveryServices = Pick<ActivityServices, 'db' | 'workflows'>;

const SECOND_MS = 1_000;
/** How long the webhooks that remain are counted. Milliseconds. */
const COUNTED_WITHIN_MS = 2_000;

/** The recovery as recorded. Throws RecordMissing when there is none. */
export async function readWebhookRecovery(
  { db }: Pick<ActivityServices, 'db'>,
  { recovery_id }: WebhookRecoveryInput,
): Promise<WebhookRecoveryProgress> {
  const recovery = required(await findWebhookRecovery(db, recovery_id), webhookRecoveryWorkflowId(recovery_id));
  setCause(recovery.request_id);
  const { status, paused_by, sent, delivered } = recovery;
  // Of very many it may take too long; sending them does not depend on it.
  const remaining = isFinal(WEBHOOK_RECOVERY_MOVES, status)
    ? 0
    : await readWithin(db, COUNTED_WITHIN_MS, (trx) => countToRecover(trx, recovery, Date.now())).catch(
        () => undefined,
      );
  const counted = remaining === undefined ? {} : { remaining };
  return { status, ...(paused_by && { paused_by }), ...counted, sent, delivered, clock_offset_ms: 0 };
}

/**
 * Sends webhooks of a recovery for some seconds, ten a second at most, while it runs (rules 13.17). Repeat-safe: each
 * is written together with the position of the next.
 */
export async function recoverWebhooks(
  services: RecoveryServices,
  { recovery_id }: WebhookRecoveryInput,
): Promise<void> {
  await startUnattempted(services, await load(services.db, recovery_id));
  await workForAPart(async () => {
    const began = performance.now();
    const goes_on = await recoverSlice(services, recovery_id);
    if (goes_on) await sleep(Math.max(0, began + SECOND_MS - performance.now()));
    return goes_on;
  });
}

/**
 * Sends the webhooks of one second, one every `pace_ms`. Returns whether the recovery goes on: not when it is paused,
 * was stopped, or has sent all of them and each has had its first attempt.
 */
export async function recoverSlice(
  services: RecoveryServices,
  recovery_id: string,
  pace_ms = SECOND_MS / RECOVERED_PER_SECOND,
): Promise<boolean> {
  const { db } = services;
  const began = performance.now();
  const recovery = await load(db, recovery_id);
  if (recovery.status !== 'running') return false;
  const now = new Date();
  if (recovery.is_failing) {
    await moveWebhookRecovery(db, recovery_id, { to: 'paused', paused_by: 'failures', now });
    return false;
  }
  const limit = Math.min(RECOVERED_PER_SECOND, RECOVERED_AT_ONCE - recovery.unanswered);
  if (limit <= 0) return true;
  const next = await nextToRecover(db, recovery, { now: now.getTime(), limit });
  if (next.length === 0 && recovery.unanswered === 0) {
    await moveWebhookRecovery(db, recovery_id, { to: 'completed', now });
    return false;
  }
  let before = recovery;
  for (const [index, one] of next.entries()) {
    await sleep(Math.max(0, began + index * pace_ms - performance.now()));
    if (!(await recoverOne(services, before, one))) return true;
    before = { ...before, position: one.position };
  }
  return true;
}

/**
 * Sends a webhook, unless its order has got one meanwhile. `false`: another request or worker has changed the recovery.
 */
async function recoverOne(
  { db, workflows }: RecoveryServices,
  recovery: WebhookRecoveryState,
  failed: FailedDelivery,
): Promise<boolean> {
  const sent = await db.transaction(async (trx) => {
    const recovery_n = await takeToRecover(trx, recovery, failed, new Date());
    if (recovery_n === undefined) return 'changed';
    // Since it was found, the receiver may have got it, or a later event of its order.
    if (!(await isStillToRecover(trx, recovery, failed))) return undefined;
    const now = new Date(currentTimeOf(failed));
    const { request_id } = recovery;
    const delivery = failed.has_failed ? await insertRedelivery(trx, failed, { now, request_id }) : failed;
    return (await noteRecovered(trx, recovery.id, delivery, recovery_n)) ? delivery : undefined;
  });
  if (sent === 'changed') return false;
  if (sent !== undefined) {
    const { order_id, n } = sent;
    await workflows.deliveries.start({ order_id, n, project_id: failed.project_id });
  }
  return true;
}

/** A worker may have ended after it wrote a delivery and before it started its workflow. */
async function startUnattempted({ db, workflows }: RecoveryServices, recovery: WebhookRecoveryState): Promise<void> {
  for (const delivery of await unattemptedDeliveries(db, recovery)) await workflows.deliveries.start(delivery);
}

async function load(db: Database, recovery_id: string): Promise<WebhookRecoveryState> {
  const recovery = required(await findWebhookRecoveryState(db, recovery_id), webhookRecoveryWorkflowId(recovery_id));
  setCause(recovery.request_id);
  return recovery;
}
