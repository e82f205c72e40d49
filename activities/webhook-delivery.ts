import { Context } from '@temporalio/activity';
import { checkWritable } from '../src/db/availability';
import { required, type Database } from '../src/db/query';
import { confirmWritable, findDelivery, recordAttempt, type Delivery } from '../src/db/webhooks/deliveries';
import { signingSecrets } from '../src/db/webhooks/webhook-secrets';
import {
  afterAttempt,
  isAttemptDue,
  isSlowAttempt,
  webhookTimeLimit,
  type DeliveryKey,
  type DeliveryProgress,
} from '../src/domain/delivery';
import { gauge, incrementCounter, measure } from '../src/metrics/recorder';
import { setCause } from '../src/tracing/cause';
import { webhookResult, type WebhookAnswer } from '../src/webhook/post';
import { deliveryWorkflowId } from '../workflows/messages';
import { busyFailure } from './failure';
import { currentInstant } from './activity-time';
import type { TimeOfTry, ActivityServices } from './services';

/** Names the attempt that is due by the record. `now` is real time: the order's clock offset is in the record. */
export interface AttemptInput extends DeliveryKey, TimeOfTry {}

/**
 * Starts one workflow per webhook. It may run longer than the order's and uses the order's clock. Repeat-safe: a
 * delivery continues from its record.
 */
export async function startDeliveries(
  { workflows }: ActivityServices,
  { deliveries, ...of }: { order_id: string; project_id: string; deliveries: number[] },
): Promise<void> {
  await Promise.all(deliveries.map((n) => workflows.deliveries.start({ ...of, n })));
}

/**
 * Makes an attempt if one is due. Returns the delivery's progress. Repeat-safe. Fails, for Temporal to try again
 * later, while this worker makes as many attempts of the project as it may (rules 13.9).
 */
export async function attemptDelivery(services: ActivityServices, input: AttemptInput): Promise<DeliveryProgress> {
  const found = await load(services.db, input);
  if (!mustAttempt(found, input)) return progressOf(found);
  await requireRecordable(services, found);
  const end = services.attempt_limits.beginTask(found);
  if (end === undefined) throw projectIsBusy(services.attempt_limits.nextTurn(found));
  try {
    const delivery = await afterEarlierTries(services, input, found);
    if (!mustAttempt(delivery, input)) return progressOf(delivery);
    return await send(services, delivery, currentInstant(input) + delivery.clock_offset_ms);
  } finally {
    end();
  }
}

/** Like attemptDelivery, inside a workflow task. Returns null without an attempt when that might take too long. */
export async function attemptDeliveryLocally(
  services: ActivityServices,
  input: AttemptInput,
): Promise<DeliveryProgress | null> {
  const found = await load(services.db, input);
  if (!mustAttempt(found, input)) return progressOf(found);
  await requireRecordable(services, found);
  // Before it is left to a task, which is a first try again.
  const delivery = await afterEarlierTries(services, input, found);
  if (!mustAttempt(delivery, input)) return progressOf(delivery);
  const end = delivery.is_slow ? undefined : services.attempt_limits.beginLocally(delivery);
  if (end === undefined) {
    incrementCounter('payments_webhook_attempts_deferred_total', {});
    return null;
  }
  try {
    return await send(services, delivery, currentInstant(input) + delivery.clock_offset_ms);
  } finally {
    end();
  }
}

/**
 * Throws while Postgres is read-only: an attempt that is not recorded is neither counted nor followed by a pause of two
 * minutes (rules 13.6).
 */
async function requireRecordable({ db }: ActivityServices, { is_read_only }: Delivery): Promise<void> {
  if (is_read_only) await checkWritable(db);
}

const projectIsBusy = (again_after: number) =>
  busyFailure('ProjectIsBusy', {
    message: 'This worker makes as many attempts of the project as it may at once.',
    again_after,
  });

const mustAttempt = (delivery: Delivery, { now }: AttemptInput) =>
  isAttemptDue(delivery, now + delivery.clock_offset_ms);

/** An attempt that is made later than this after its instant may have been made by a worker that died. Milliseconds. */
const ON_TIME_MS = 5_000;

/**
 * The delivery as earlier tries have left it. One may have sent the webhook, and its record may hang at the commit,
 * which waits for a standby: throws unless a write ends (rules 13.6). A task that had to wait for a place is a later try
 * too, and makes the write for nothing; so does the first try of an attempt that is late for another reason.
 */
async function afterEarlierTries({ db }: ActivityServices, input: AttemptInput, found: Delivery): Promise<Delivery> {
  const now = input.now + found.clock_offset_ms;
  const is_on_time = now - (found.next_attempt_at ?? now) < ON_TIME_MS;
  if (Context.current().info.attempt === 1 && is_on_time) return found;
  await confirmWritable(db, input);
  return await load(db, input);
}

/**
 * Sends the webhook once and records the result. `now` by the order's clock. Throws when SECRET_KEYS lacks a key, before
 * anything is sent or counted, and when the result could not be recorded.
 */
async function send(services: ActivityServices, delivery: Delivery, now: number): Promise<DeliveryProgress> {
  const { db, secrets, postWebhook, webhook_private_addresses, attempt_limits } = services;
  const attempt = delivery.attempts + 1;
  const time_limit_ms = webhookTimeLimit(attempt);
  // Signed in real time, which the receiver checks; sandbox clocks do not apply (rules 13.11).
  const signed_with = signingSecrets(secrets, delivery.project_id, delivery, Date.now());
  const sent = beganAttempt(delivery, attempt, now);
  const answer = await withinLimit(
    time_limit_ms,
    postWebhook({
      url: delivery.url,
      // A redelivery has the id of the first delivery.
      webhook_id: deliveryWorkflowId({ ...delivery, n: delivery.redelivery_of ?? delivery.n }),
      body: { event: 'status_changed', order_id: delivery.order_id, project_id: delivery.project_id },
      secrets: signed_with,
      time_limit_ms,
      private_addresses: delivery.is_test && webhook_private_addresses,
    }),
  );
  sent(answer);
  const { failure, duration_ms } = answer;
  logAttempt(services, delivery, attempt, answer);
  const is_slow = isSlowAttempt(duration_ms);
  attempt_limits.learn(delivery, is_slow);
  const after = afterAttempt({ attempt, failure, ended_at: now + duration_ms });
  const { clock_offset_ms } = delivery;
  const recorded = await recordAttempt(db, delivery, { attempt, time_limit_ms, started: now, ...answer }, after);
  if (recorded && (after.status === 'delivered' || after.status === 'failed')) {
    incrementCounter('payments_webhook_deliveries_total', {
      status: after.status,
      environment: environmentOf(delivery),
    });
  }
  // Otherwise an earlier try is already recorded.
  return recorded
    ? progressOf({ ...after, attempts: attempt, failure, clock_offset_ms, is_slow })
    : progressOf(await load(db, delivery));
}

let attempts_in_flight = 0;
gauge('payments_webhook_attempts_in_flight', () => [{ value: attempts_in_flight, labels: {} }]);

const environmentOf = ({ is_test }: Delivery) => (is_test ? 'test' : 'live');

/** Measures an attempt; the result is called with its answer. `now` by the order's clock, as `next_attempt_at`. */
function beganAttempt(delivery: Delivery, attempt: number, now: number): (answer: WebhookAnswer) => void {
  const environment = environmentOf(delivery);
  const { next_attempt_at = now } = delivery;
  const labels = { attempt: attempt === 1 ? 'first' : 'later', environment } as const;
  measure('payments_webhook_attempt_delay_seconds', labels, Math.max(0, now - next_attempt_at) / 1_000);
  attempts_in_flight += 1;
  return (answer) => {
    attempts_in_flight -= 1;
    incrementCounter('payments_webhook_attempts_total', { result: webhookResult(answer), environment });
    measure('payments_webhook_attempt_duration_seconds', {}, answer.duration_ms / 1_000);
  };
}

/** Logs an attempt: neither its address nor its body. */
function logAttempt(
  { log, log_requests }: ActivityServices,
  { order_id, n }: DeliveryKey,
  attempt: number,
  { status_code, failure, duration_ms: ms }: WebhookAnswer,
): void {
  if (log_requests === 'none' || (log_requests === 'errors' && failure === undefined)) return;
  log.info({ order_id, n, attempt, status_code, failure, ms }, 'webhook attempted');
}

async function load(db: Database, id: DeliveryKey): Promise<Delivery> {
  const delivery = required(await findDelivery(db, id), deliveryWorkflowId(id));
  setCause(delivery.request_id);
  return delivery;
}

/** The progress of a delivery for its workflow, without address and secret. */
function progressOf(delivery: DeliveryProgress): DeliveryProgress {
  const { status, attempts, next_attempt_at, failure, clock_offset_ms, is_slow } = delivery;
  return {
    status,
    attempts,
    ...(next_attempt_at !== undefined && { next_attempt_at }),
    ...(failure !== undefined && { failure }),
    clock_offset_ms,
    is_slow,
  };
}

/** Added to the sender's own limits. Milliseconds. */
const GRACE_MS = 1_000;

/** A second limit, outside the sender: attempts that never end would occupy all slots of the worker. */
async function withinLimit(time_limit_ms: number, sending: Promise<WebhookAnswer>): Promise<WebhookAnswer> {
  const duration_ms = 2 * time_limit_ms + GRACE_MS;
  let timer: NodeJS.Timeout | undefined;
  const gone = new Promise<WebhookAnswer>((resolve) => {
    timer = setTimeout(() => resolve({ failure: 'the attempt did not end', duration_ms }), duration_ms);
  });
  return await Promise.race([sending, gone]).finally(() => clearTimeout(timer));
}
