import { findOrderSnapshot } from '../src/db/orders/order-snapshot';
import { findPayment } from '../src/db/orders/transactions';
import type { Project } from '../src/db/projects/projects';
import { pauseWebhooksOf, webhooksOf, type StoredReceiverCheck } from '../src/db/webhooks/receiver-checks';
import { beginAdvance, finishAdvance, setClock } from '../src/db/sandbox-clocks/sandbox-clocks';
import { acceptRequest, type AcceptedRequest } from '../src/domain/accepted-request';
import type { DeliveryKey } from '../src/domain/delivery';
import type { NewOrder } from '../src/domain/new-order';
import { ATTEMPTS_MAX } from '../src/domain/order';
import { latestAttempt, transactionOf, type OrderSnapshot } from '../src/domain/order-snapshot';
import type { ReceiverCase } from '../src/domain/receiver-check';
import { ServiceError } from '../src/errors';
import { receiverCheckOrderId, transactionId } from '../src/ids';
import type { TransactionInput } from '../workflows/messages';
import { executeFollowUp, pollFollowUp } from './follow-up';
import { chargeAttempt, createAndCharge, pollCharge, writeOrder } from './order';
import type { ActivityServices, TimeOfTry } from './services';

/** A case that is being played. */
export interface Play extends TimeOfTry {
  services: ActivityServices;
  check: StoredReceiverCheck;
  project: Project;
  case: ReceiverCase;
}

const AMOUNT = 1_250;
/** By then recovery takes care of an order whose outcome the check has not heard. */
const POLL_AGAIN_MS = 60_000;
const PERIOD = { expiration_period: 'PT30M', period: 30 * 60_000 };

/**
 * Orders of a receiver check. They are charged like any other order of a test project. Their ids derive from the check,
 * so that a repeat makes none twice. They have no workflow: the check is at work on them, and recovery continues one
 * that it leaves open. Their webhooks are paused, as the check sends them itself.
 */

/** A paid order. Returns its webhook. */
export async function paidOrder(play: Play, n = 1): Promise<DeliveryKey> {
  const order = newOrder(play, n, { charged_by: 'token', attempts_max: 1 });
  const charged = await createAndCharge(play.services, {
    request: requestOf(play),
    order,
    period: PERIOD.period,
    is_test: true,
    transaction: await attempt(play, order.id, { n: 1, card: 'approved' }),
    now: play.now,
  });
  requireCompleted(await outcomeKnown(play, charged));
  return (await held(play, charged.id))[0]!;
}

/** An order whose first attempt was declined and whose second was approved. Returns its two webhooks in their order. */
export async function declinedThenPaidOrder(play: Play): Promise<[DeliveryKey, DeliveryKey]> {
  const order = newOrder(play, 1, { charged_by: 'customer', attempts_max: ATTEMPTS_MAX });
  const request = requestOf(play);
  const { project, now } = play;
  const written = await writeOrder(play.services, { request, order, period: PERIOD.period, is_test: true, now });
  const pay = async (before: OrderSnapshot, n: number, card: string): Promise<OrderSnapshot> => {
    const begun = transactionOf(before, transactionId(order.id, n));
    if (begun !== undefined && begun.status !== 'new') return await outcomeKnown(play, before);
    const transaction = await attempt(play, order.id, { n, card });
    const paid = { request, project_id: project.id, is_test: true, transaction, order: before, now };
    return await outcomeKnown(play, await chargeAttempt(play.services, paid));
  };
  const declined = await pay(written, 1, 'do_not_honor');
  if (declined.transactions[0]?.status !== 'error') throw new Error(`order ${order.id} was not declined`);
  await pauseWebhooksOf(play.services.db, [order.id]);
  requireCompleted(await pay(declined, 2, 'approved'));
  const [first, second] = await held(play, order.id);
  return [first!, second!];
}

/** Refunds an order in full. Returns the webhook of the refund order. */
export async function refundInFull(play: Play, { order_id }: DeliveryKey): Promise<DeliveryKey> {
  const { services, project, now } = play;
  const id = receiverCheckOrderId(play.check.id, `${play.case}:refund`, 1);
  const input = {
    id,
    project_id: project.id,
    kind: 'refund',
    requested_by: 'merchant',
    amount: AMOUNT,
    original_order_id: order_id,
    original_transaction_id: transactionId(order_id, 1),
    ...describe(play),
    now,
  } as const;
  const { order } = await executeFollowUp(services, input);
  if (order?.status !== 'processing') requireCompleted(order);
  else requireCompleted(await pollFollowUp(services, { ...input, order, poll_at: now + POLL_AGAIN_MS }));
  return (await held(play, id))[0]!;
}

/** Advances the clock of an order. Nothing of it waits, as its webhook is paused. */
export async function advanceClock(play: Play, { order_id }: DeliveryKey, advance_ms: number): Promise<void> {
  const { services, check, project, now } = play;
  const { db } = services;
  const clock = { clock_id: order_id, project_id: project.id };
  const begun = await beginAdvance(db, clock, { request_id: check.id, advance: { advance_ms }, now });
  if (begun === undefined) throw new Error(`the clock of order ${order_id} cannot be advanced`);
  await setClock(db, { ...clock, offset_ms: begun.to_offset_ms, now });
  await finishAdvance(db, { ...clock, n: begun.n });
}

/** By these a merchant tells the orders of a check from others. */
const describe = ({ check, case: name }: Play) => ({
  merchant_order_id: `receiver-check-${name}`,
  description: `Receiver check: ${name}`,
  extra: { receiver_check_id: check.id },
});

function newOrder(play: Play, n: number, payer: Pick<NewOrder, 'charged_by' | 'attempts_max'>): NewOrder {
  const { check, project } = play;
  return {
    id: receiverCheckOrderId(check.id, play.case, n),
    project_id: project.id,
    ...describe(play),
    currency: project.currencies[0]!,
    amount: AMOUNT,
    expiration_period: PERIOD.expiration_period,
    webhook_url: check.webhook_url,
    ...payer,
  };
}

/** The service itself asks: nobody waits for an answer, and every repeat is the same request. */
const requestOf = ({ check, now }: Play): AcceptedRequest =>
  acceptRequest({ request_id: check.id, received_at: now, deadline_at: now, has_idempotency_key: true });

/** An attempt with a test card; the card of an attempt that has begun stays, as its charge may have been sent. */
async function attempt(
  play: Play,
  order_id: string,
  { n, card }: { n: number; card: string },
): Promise<TransactionInput & { payment_method_details: object }> {
  const { db } = play.services;
  const id = transactionId(order_id, n);
  const order = await findOrderSnapshot(db, order_id);
  const has_begun = order !== undefined && transactionOf(order, id) !== undefined;
  const payment = has_begun
    ? { payment_method_details: (await findPayment(db, id)).payment_method_details }
    : await testCard(play, card);
  return { id, attempt: n, payment_method: 'credit-card', ...PERIOD, ...payment };
}

/** A token of one of the processor's published test cards. Throws an Error, so that the activity is tried again. */
async function testCard(play: Play, name: string) {
  try {
    return await vaultTestCard(play, name);
  } catch (error) {
    throw error instanceof ServiceError ? new Error(error.message, { cause: error }) : error;
  }
}

async function vaultTestCard({ services: { processor }, project, now }: Play, name: string) {
  const card = (await processor.testCards()).find((one) => one.name === name);
  if (card === undefined) throw new Error(`the processor has no test card ${name}`);
  const vaulted = await processor.vaultCard({
    project_id: project.id,
    is_test: true,
    number: card.number,
    card_expiry: `12${new Date(now).getUTCFullYear() + 2}`,
    security_code: '123',
  });
  if (!vaulted.usable) throw new Error(`the processor refuses its test card ${name}: ${vaulted.reason}`);
  const { brand, vault_token, truncated_pan, card_expiry } = vaulted;
  return { payment_method_brand: brand, payment_method_details: { vault_token, truncated_pan, card_expiry } };
}

/** The order after a poll, if the processor was not heard: the order has no workflow that polls. */
async function outcomeKnown({ services, now }: Play, order: OrderSnapshot): Promise<OrderSnapshot> {
  const last = latestAttempt(order);
  if (last?.status !== 'processing') return order;
  return await pollCharge(services, { order, transaction_id: last.id, now, poll_at: now + POLL_AGAIN_MS });
}

/** Pauses the webhooks of an order and returns them in their order. After a restore the first is not number 1. */
async function held({ services: { db } }: Play, order_id: string): Promise<DeliveryKey[]> {
  await pauseWebhooksOf(db, [order_id]);
  return await webhooksOf(db, order_id);
}

/** Throws unless the processor has approved it: the activity is tried again. */
function requireCompleted(order: Pick<OrderSnapshot, 'id' | 'status'> | undefined): void {
  if (order?.status !== 'completed') {
    throw new Error(`order ${order?.id} of a receiver check is ${order?.status}`);
  }
}
