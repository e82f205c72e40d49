import { recordFollowUpOutcome } from '../src/db/orders/follow-ups';
import { endWatch, findWatch, postponeWatch } from '../src/db/orders/late-approvals';
import { moveAsPlanned } from '../src/db/orders/move-order';
import { loadOrder } from '../src/db/orders/order-record';
import { settleByHand } from '../src/db/orders/settle-by-hand';
import { setAttention } from '../src/db/orders/update-order';
import { holdsCardNumber } from '../src/domain/card';
import { isOpen } from '../src/domain/order';
import { lastTransaction, type OrderRecord } from '../src/domain/order-record';
import {
  contradictionOf,
  isMismatch,
  isUndecided,
  moveForManualOutcome,
  planManualOutcome,
} from '../src/domain/outcome';
import { nextLatePoll } from '../src/domain/transaction';
import { validationError } from '../src/errors';
import type { FollowUpInput, SettleByHandInput } from '../workflows/messages';
import { signalPayment, signalPaymentLink } from './order-signals';
import type { AtTime, Services } from './services';

/**
 * Settlements by an operator, of outcomes that the processor will never give (rules 10.14), for orders and follow-up
 * orders. Safe to repeat: an outcome that is recorded stays. What was settled is in the audit trail, in the same SQL
 * transaction.
 */

/** Gives a charge the outcome that the operator decided, unless it has one. Returns the order as recorded. */
export async function settleCharge(
  services: Services,
  { order_id, settlement, now }: { order_id: string; settlement: SettleByHandInput } & AtTime,
): Promise<OrderRecord> {
  const { db } = services;
  await settleByHand(db, { order_id, settlement, by: settledBy(settlement) }, (trx, order) =>
    moveAsPlanned(trx, order, (current) => planManualOutcome(current, settlement, now)),
  );
  return await signalPaymentLink(services, await loadOrder(db, order_id));
}

/** Like settleCharge, for a follow-up order. The amount it had set aside is moved or freed, under the rules of its money. */
export async function settleFollowUp(
  services: Services,
  input: FollowUpInput & { settlement: SettleByHandInput } & AtTime,
): Promise<OrderRecord> {
  const { db } = services;
  const { id: order_id, settlement } = input;
  const { to, details } = moveForManualOutcome(settlement, input.now);
  await settleByHand(db, { order_id, settlement, by: settledBy(settlement) }, (trx, order) =>
    recordFollowUpOutcome(trx, order, { ...input, amount: order.amount }, to, details),
  );
  await signalPayment(services, input);
  return await loadOrder(db, order_id);
}

/**
 * Asks the processor about an outcome that is recorded: it was settled by hand, or there is a sign that the processor has
 * another one. A contradiction becomes the order's `attention` (rules 10.14, 10.18). Returns the order as recorded.
 */
export async function verifySettlement(
  { db, processor }: Services,
  { order_id, key, now }: { order_id: string; key: string } & AtTime,
): Promise<OrderRecord> {
  const order = await loadOrder(db, order_id);
  const last = lastTransaction(order);
  if (last === undefined || isOpen(last.status)) return order;
  const { amount, currency } = order;
  const answer = await processor.findOperation(key, { amount, currency });
  const watch = await findWatch(db, last.id);
  if (watch !== undefined && !isMismatch(answer) && isUndecided(answer, watch.began, now)) {
    // Recovery has it asked again.
    const { poll_at, is_overdue } = nextLatePoll(watch.began, now);
    if (is_overdue) await setAttention(db, order_id, OVERDUE);
    await postponeWatch(db, last.id, poll_at);
    return is_overdue ? { ...order, attention: OVERDUE } : order;
  }
  const attention = contradictionOf(order, last, answer);
  if (attention !== undefined) await setAttention(db, order_id, attention);
  await endWatch(db, last.id);
  return attention === undefined ? order : { ...order, attention };
}

const OVERDUE = 'the processor has given no answer for a day about a sign that it has another outcome';

/** The operator, for the audit trail. Throws a ValidationError for a reason that must not be stored. */
function settledBy({ operator, reason, command_line }: SettleByHandInput) {
  if (holdsCardNumber(reason)) throw validationError('reason', 'A card number is never accepted.');
  const kind = command_line === undefined ? ('temporal' as const) : ('command_line' as const);
  return { actor: { kind, id: operator }, request_id: command_line?.request_id };
}
