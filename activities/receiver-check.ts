import { setTimeout as sleep } from 'node:timers/promises';
import { required, type Database } from '../src/db/query';
import { findProject } from '../src/db/projects/projects';
import { completeReceiverCheck, findReceiverCheck, type StoredReceiverCheck } from '../src/db/webhooks/receiver-checks';
import { readsOfOrders } from '../src/db/requests/logged-requests';
import { findDelivery, recordAttempt } from '../src/db/webhooks/deliveries';
import { signingSecrets, randomWebhookSecret } from '../src/db/webhooks/webhook-secrets';
import { afterAttempt, webhookTimeLimit, type DeliveryKey } from '../src/domain/delivery';
import {
  READS_AWAITED_MS,
  judgeReceiver,
  unreadOrders,
  worstResult,
  type OrderRead,
  type PlayedCase,
  type ReceiverCase,
  type ReceiverResult,
  type SentWebhook,
} from '../src/domain/receiver-check';
import type { WebhookRequest } from '../src/webhook/post';
import { deliveryWorkflowId, receiverCheckWorkflowId, type ReceiverCheckInput } from '../workflows/messages';
import { advanceClock, declinedThenPaidOrder, paidOrder, refundInFull, type Play } from './receiver-check-orders';
import type { ActivityServices, TimeOfTry } from './services';

const TEN_MINUTES_MS = 10 * 60_000;
const ORDERS_AT_ONCE = 10;

/**
 * Makes the orders of a case and sends their webhooks as the case has it (rules 27.3). A repeat sends them again. Of a
 * check that has ended none are made.
 */
export async function playReceiverCase(
  services: ActivityServices,
  { check_id, case: name, now }: ReceiverCheckInput & { case: ReceiverCase } & TimeOfTry,
): Promise<PlayedCase> {
  const check = await load(services.db, check_id);
  // Its merchant was told that it could not be started.
  if (check.completed !== null) return { case: name, webhooks: [] };
  const project = required(await findProject(services.db, check.project_id), `project ${check.project_id}`);
  const webhooks = await CASES[name]({ services, check, project, case: name, now });
  return { case: name, webhooks };
}

/**
 * Waits until the receiver has retrieved the orders that it accepted, at most a few seconds, and writes the report.
 * Returns its worst result. Repeat-safe.
 */
export async function finishReceiverCheck(
  { db }: ActivityServices,
  { check_id, played, now }: ReceiverCheckInput & { played: PlayedCase[] } & TimeOfTry,
): Promise<ReceiverResult> {
  const { project_id, completed, cases: judged } = await load(db, check_id);
  if (completed !== null) return worstResult(judged ?? [{ result: 'not_played' }]);
  const order_ids = [...new Set(played.flatMap(({ webhooks }) => webhooks.map(({ order_id }) => order_id)))];
  const began = Date.now();
  let reads = await findReads();
  while (unreadOrders(played, reads).length > 0 && Date.now() - began < READS_AWAITED_MS) {
    await sleep(LOOK_AGAIN_MS);
    reads = await findReads();
  }
  const cases = judgeReceiver(played, reads);
  await completeReceiverCheck(db, { id: check_id, cases, now: now + Date.now() - began });
  return worstResult(cases);

  async function findReads(): Promise<OrderRead[]> {
    const found = await readsOfOrders(db, { project_id, order_ids });
    return found.map(({ id: request_id, ...read }) => ({ request_id, ...read }));
  }
}

const LOOK_AGAIN_MS = 200;

/** Completes a check that could not be played. Repeat-safe. */
export async function stopReceiverCheck(
  { db }: ActivityServices,
  { check_id, reason, now }: ReceiverCheckInput & { reason: string } & TimeOfTry,
): Promise<void> {
  await completeReceiverCheck(db, { id: check_id, reason, now });
}

async function load(db: Database, check_id: string): Promise<StoredReceiverCheck> {
  return required(await findReceiverCheck(db, check_id), receiverCheckWorkflowId(check_id));
}

const CASES: Readonly<Record<ReceiverCase, (play: Play) => Promise<SentWebhook[]>>> = {
  once: async (play) => [await send(play, await paidOrder(play))],
  async twice_at_once(play) {
    const webhook = await paidOrder(play);
    return await Promise.all([send(play, webhook), send(play, webhook, { is_recorded: false })]);
  },
  async late(play) {
    const webhook = await paidOrder(play);
    const of_refund = await refundInFull(play, webhook);
    return [await send(play, of_refund), await send(play, webhook)];
  },
  async out_of_order(play) {
    const [earlier, later] = await declinedThenPaidOrder(play);
    return [await send(play, later), await send(play, earlier)];
  },
  async wrong_signature(play) {
    const webhook = await paidOrder(play);
    const wrong = { secrets: () => [randomWebhookSecret()], expected: 'refused', is_recorded: false } as const;
    return [await send(play, webhook, wrong), await send(play, webhook)];
  },
  async old_timestamp(play) {
    const webhook = await paidOrder(play);
    const old = { signed_at: Date.now() - TEN_MINUTES_MS, expected: 'refused', is_recorded: false } as const;
    return [await send(play, webhook, old), await send(play, webhook)];
  },
  previous_secret: async (play) => [
    await send(play, await paidOrder(play), { secrets: (own) => [randomWebhookSecret(), ...own] }),
  ],
  async answered_500(play) {
    const webhook = await paidOrder(play);
    const first = { counts_as: 'the receiver check counts it as answered 500' };
    return [await send(play, webhook, first), await send(play, webhook)];
  },
  async cut_after_answer(play) {
    const webhook = await paidOrder(play);
    const first = { manner: 'cut', counts_as: 'the receiver check closed the connection' } as const;
    return [await send(play, webhook, first), await send(play, webhook)];
  },
  slow_body: async (play) => [await send(play, await paidOrder(play), { manner: 'in_halves' })],
  async ten_at_once(play) {
    const numbers = Array.from({ length: ORDERS_AT_ONCE }, (_, index) => index + 1);
    const webhooks = await Promise.all(numbers.map((n) => paidOrder(play, n)));
    return await Promise.all(webhooks.map((webhook) => send(play, webhook)));
  },
  async after_silence(play) {
    const webhook = await paidOrder(play);
    await advanceClock(play, webhook, TEN_MINUTES_MS);
    return [await send(play, webhook)];
  },
};

interface Manner extends Pick<WebhookRequest, 'manner' | 'signed_at'> {
  /** The secrets that sign instead of the project's own. */
  secrets?: (own: string[]) => string[];
  expected?: SentWebhook['expected'];
  /** Whether the record shows it as an attempt of the webhook; true unless it is one that no receiver may accept. */
  is_recorded?: boolean;
  /** Why the attempt is recorded as failed although it was answered. */
  counts_as?: string;
}

/** Sends a webhook once, within the limits of a first attempt, and records the attempt. */
async function send(
  { services, check, now }: Play,
  id: DeliveryKey,
  { secrets: choose = (own) => own, expected = 'accepted', is_recorded = true, counts_as, ...manner }: Manner = {},
): Promise<SentWebhook> {
  const { db, secrets, postWebhook, webhook_private_addresses } = services;
  const webhook_id = deliveryWorkflowId(id);
  const delivery = required(await findDelivery(db, id), webhook_id);
  const { order_id, project_id, clock_offset_ms } = delivery;
  const time_limit_ms = webhookTimeLimit(1);
  const sent_at = Date.now();
  const answer = await postWebhook({
    url: check.webhook_url,
    webhook_id,
    body: { event: 'status_changed', order_id, project_id },
    secrets: choose(signingSecrets(secrets, project_id, delivery, sent_at)),
    time_limit_ms,
    private_addresses: webhook_private_addresses,
    ...manner,
  });
  const answered_at = Date.now();
  if (is_recorded) {
    const attempt = delivery.attempts + 1;
    const started = Math.max(now, sent_at) + clock_offset_ms;
    const failure = counts_as ?? answer.failure;
    const after = afterAttempt({ attempt, failure, ended_at: started + answer.duration_ms });
    await recordAttempt(db, id, { attempt, time_limit_ms, started, ...answer, failure }, after);
  }
  const { status_code, failure, duration_ms } = answer;
  return {
    order_id,
    webhook_id,
    expected,
    sent_at,
    answered_at,
    duration_ms,
    ...(status_code === undefined ? { failure } : { status_code }),
  };
}
