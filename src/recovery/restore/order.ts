import { setTimeout as sleep } from 'node:timers/promises';
import { writeAttempt, writeOrder } from '../../../activities/order';
import type { SubmitPaymentInput } from '../../../workflows/messages';
import { endPeriod } from '../../db/backups/restores';
import type { Database } from '../../db/query';
import { loadOrderSnapshot } from '../../db/orders/order-snapshot';
import { findStoredOrder, type StoredOrder } from '../../db/orders/stored-order';
import { isAttemptOpen } from '../../domain/order';
import { latestAttempt, outcomeAwaitedFrom, transactionOf, type OrderSnapshot } from '../../domain/order-snapshot';
import { ORDER_MOVES, isFinal } from '../../domain/transitions';
import { currentTimeOf } from '../../time';
import type { SeenWorkflow, SentInputs } from '../../temporal/sent-inputs';
import { endLate, endUncharged, resumeOrder, setByHand } from './ended-attempt';
import { currentLink } from './payment-link';
import {
  EndedAgain,
  LeftForPerson,
  TRY_AGAIN_MS,
  again,
  deadline,
  endRun,
  untilDone,
  type Restoration,
} from './restoration';
import { sentToOrder, type SentToOrder } from './sent-to-order';

/** Writes an order again, with its attempts and its end. Returns whether the record was changed. */
export async function restoreOrder(
  restoration: Restoration,
  id: string,
  workflow: SeenWorkflow,
  inputs: SentInputs,
): Promise<boolean> {
  const { db, workflows } = restoration;
  const sent = sentToOrder(id, inputs, restoration.operations);
  const stored = await findStoredOrder(db, id);
  let is_changed: boolean;
  if (stored !== undefined) is_changed = await continueStored(restoration, stored, sent);
  else if (sent.creation !== undefined) is_changed = await createAgain(restoration, id, workflow, sent);
  else return false;
  for (const input of sent.submitted) {
    const is_paid = await payAgain(restoration, id, input, sent);
    is_changed ||= is_paid;
  }
  const order = await loadOrderSnapshot(db, id);
  if (isFinal(ORDER_MOVES, order.status)) return is_changed;
  if (sent.cancellation !== undefined) {
    // While an outcome is awaited it would be refused.
    await pollAwaitedOutcome(restoration, order);
    if (isFinal(ORDER_MOVES, (await loadOrderSnapshot(db, id)).status)) return true;
    const { source, request } = sent.cancellation;
    await workflows.orders.cancel(id, { source, request: again(request) });
    return true;
  }
  if (sent.result === 'expired') {
    await expireOrder(restoration, order);
    return true;
  }
  const has_outcome = await pollAwaitedOutcome(restoration, order);
  return is_changed || has_outcome;
}

/** Ends the last attempt of an order in the record as it had ended; otherwise its workflow goes on. */
async function continueStored(restoration: Restoration, stored: StoredOrder, sent: SentToOrder): Promise<boolean> {
  const { id } = stored;
  const last = stored.transactions.at(-1)?.id;
  // An attempt that had not begun is submitted again first, with its card.
  const is_submitted_again =
    outcomeAwaitedFrom(stored) === undefined && sent.submitted.some(({ transaction }) => transaction.id === last);
  const by_hand = is_submitted_again ? undefined : sent.by_hand.get(last);
  const is_set = await setByHand(restoration, id, by_hand, sent.endOf);
  let is_ended = false;
  // A late attempt is ended below: its workflow would find it paid.
  if (sent.lateAttempt(last) === undefined) {
    const end = await endUncharged(restoration, id, sent.endOf);
    await resumeOrder(restoration, stored);
    if (end?.is_last === true && end.ended !== 'cancelled') {
      throw new EndedAgain(
        `It had ended as ${end.ended ?? 'error'} without a charge. It is ended again, and nothing was sent.`,
      );
    }
    is_ended = end !== undefined;
  }
  const late = sent.lateAttempt(sent.by_token);
  if (late !== undefined) await endLate(restoration, late, (trx) => loadOrderSnapshot(trx, id));
  return is_set || is_ended || late !== undefined;
}

/** Creates a lost order again, and charges its token if it had been charged. Returns true: the record is changed. */
async function createAgain(
  restoration: Restoration,
  id: string,
  workflow: SeenWorkflow,
  { creation, by_token, by_hand, result, lateAttempt, endOf }: SentToOrder,
): Promise<true> {
  const { db, workflows, operations } = restoration;
  const outcome = by_hand.get(by_token);
  const is_over = result === 'error' || result === 'expired';
  if (is_over && by_token !== undefined && outcome === undefined && !(await operations.isCharged(by_token))) {
    throw new LeftForPerson(`It had ended as ${result} without a charge, which would be made now.`);
  }
  await endRun(restoration, workflow);
  const { payment_link: sent_link, request } = creation!;
  const payment_link = await currentLink(restoration, sent_link);
  const input = { ...creation!, ...(payment_link && { payment_link }), request: again(request) };
  const write = (trx: Database) => writeOrder({ db: trx }, { ...input, now: Date.now() });
  if (outcome !== undefined) {
    const order = await write(db);
    await setByHand(restoration, id, outcome, endOf);
    await resumeOrder(restoration, order);
  }
  const late = lateAttempt(by_token);
  const load = (trx: Database) => loadOrderSnapshot(trx, id);
  if (late !== undefined) await endLate(restoration, late, outcome === undefined ? write : load);
  else if (outcome === undefined) await workflows.orders.create(input);
  return true;
}

/** Submits a payment again, or ends it as it had ended. Returns whether the record was changed. */
async function payAgain(
  restoration: Restoration,
  order_id: string,
  input: SubmitPaymentInput,
  { by_hand, lateAttempt, endOf }: SentToOrder,
): Promise<boolean> {
  const { db, workflows, operations } = restoration;
  const { id } = input.transaction;
  const outcome = by_hand.get(id);
  const late = lateAttempt(id);
  const sent = { ...input, request: again(input.request) };
  const isNew = (order: OrderSnapshot) => (transactionOf(order, id)?.status ?? 'new') === 'new';
  const write = async (trx: Database) => {
    const order = await loadOrderSnapshot(trx, order_id);
    return isNew(order) ? await writeAttempt({ db: trx }, { ...sent, order, now: currentTimeOf(order) }) : order;
  };
  const is_new = isNew(await loadOrderSnapshot(db, order_id));
  // It had failed; made now, it might charge a customer who has paid elsewhere.
  if (is_new && outcome === undefined && late === undefined && !(await operations.isCharged(id))) return false;
  if (is_new) await untilOutcomeBefore(restoration, order_id, id);
  if (is_new && outcome !== undefined) {
    await setByHand(restoration, (await write(db)).id, outcome, endOf);
    await resumeOrder(restoration, { id: order_id, project_id: input.project_id });
    if (late === undefined) return true;
  }
  if (late !== undefined) return await endLate(restoration, late, write);
  if (!is_new) return false;
  await workflows.orders.pay(order_id, sent);
  return true;
}

/** Ends the period of an order that had expired: its merchant was told so. */
async function expireOrder(restoration: Restoration, order: OrderSnapshot): Promise<void> {
  const { db } = restoration;
  await endPeriod(db, 'orders', order.id, new Date());
  await resumeOrder(restoration, order);
  await untilDone(new Error('It does not expire.'), async () =>
    isFinal(ORDER_MOVES, (await loadOrderSnapshot(db, order.id)).status),
  );
}

/** Waits for the outcome of the attempt before this one. */
async function untilOutcomeBefore(restoration: Restoration, order_id: string, transaction_id: string): Promise<void> {
  const { db } = restoration;
  const order = await loadOrderSnapshot(db, order_id);
  const is_known = ({ transactions }: OrderSnapshot) => {
    const last = transactions.at(-1);
    return last === undefined || last.id === transaction_id || !isAttemptOpen(last.status);
  };
  if (is_known(order)) return;
  await pollAwaitedOutcome(restoration, order);
  const unknown = new LeftForPerson('An attempt before it has no outcome.');
  await untilDone(unknown, async () => is_known(await loadOrderSnapshot(db, order_id)));
}

/**
 * Has the workflow of an order poll the outcome that is awaited now: it may have come since the backup, and the next
 * poll by schedule may be minutes away. Returns whether it has come; an outcome that has not stays awaited.
 */
async function pollAwaitedOutcome({ db, client, workflows }: Restoration, order: OrderSnapshot): Promise<boolean> {
  if (outcomeAwaitedFrom(order) === undefined) return false;
  const before = latestAttempt(order)!;
  const give_up = deadline();
  await client.withDeadline(give_up, () => workflows.orders.requestPoll(order.id));
  for (;;) {
    const { status, polls } = transactionOf(await loadOrderSnapshot(db, order.id), before.id)!;
    if (!isAttemptOpen(status)) return true;
    const is_polled = status !== before.status || polls !== before.polls;
    if (is_polled || Date.now() > give_up) return false;
    await sleep(TRY_AGAIN_MS);
  }
}
