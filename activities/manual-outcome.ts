import { recordFollowUpOutcome } from '../src/db/orders/follow-ups';
import { endWatch, findWatch, insertWatch, postponeWatch } from '../src/db/orders/late-approvals';
import { moveAsPlanned } from '../src/db/orders/move-order';
import { loadOrderSnapshot } from '../src/db/orders/order-snapshot';
import { recordManualOutcome } from '../src/db/orders/manual-outcomes';
import { endAttention, addAttention } from '../src/db/orders/update-order';
import { CONTRADICTION_OVERDUE } from '../src/domain/attention';
import { holdsCardNumber } from '../src/domain/card';
import { isAttemptOpen } from '../src/domain/order';
import { latestAttempt, type OrderSnapshot } from '../src/domain/order-snapshot';
import {
  contradictionOf,
  isMismatch,
  isUndecided,
  moveForManualOutcome,
  planManualOutcome,
} from '../src/domain/outcome';
import { nextLatePoll } from '../src/domain/transaction';
import { validationError } from '../src/errors';
import type { FollowUpInput, SetOutcomeInput } from '../workflows/messages';
import { signalPayment, signalLinkOfEndedOrder } from './order-signals';
import type { TimeOfTry, ActivityServices, WorkflowsOf } from './services';

/**
 * Outcomes that an operator sets where the processor will never give one (rules 10.14), for orders and follow-up
 * orders. Repeat-safe: a recorded outcome never changes. The entry of the audit trail is written in the same SQL
 * transaction.
 */

/** Sets the outcome of a charge unless it has one. Returns the order as recorded. */
export async function setChargeOutcome(
  services: Pick<ActivityServices, 'db'> & WorkflowsOf<'payment_links'>,
  { order_id, manual_outcome, now }: { order_id: string; manual_outcome: SetOutcomeInput } & TimeOfTry,
): Promise<OrderSnapshot> {
  const { db } = services;
  await recordManualOutcome(db, { order_id, manual_outcome, by: authorOf(manual_outcome) }, (trx, order) =>
    moveAsPlanned(trx, order, (current) => planManualOutcome(current, manual_outcome, now)),
  );
  return await signalLinkOfEndedOrder(services, await loadOrderSnapshot(db, order_id));
}

/** Like setChargeOutcome, for a follow-up order. The amount that it had set aside is moved or freed. */
export async function setFollowUpOutcome(
  services: Pick<ActivityServices, 'db'> & WorkflowsOf<'orders'>,
  input: FollowUpInput & { manual_outcome: SetOutcomeInput } & TimeOfTry,
): Promise<OrderSnapshot> {
  const { db } = services;
  const { id: order_id, manual_outcome } = input;
  const { to, details } = moveForManualOutcome(manual_outcome, input.now);
  await recordManualOutcome(db, { order_id, manual_outcome, by: authorOf(manual_outcome) }, (trx, order) =>
    recordFollowUpOutcome(trx, order, { ...input, amount: order.amount }, to, details),
  );
  await signalPayment(services, input);
  return await loadOrderSnapshot(db, order_id);
}

/**
 * Polls the processor about a recorded outcome: one that was set by hand, or that the processor seems to contradict. A
 * contradiction becomes the order's `attention` (rules 10.14, 10.18). Returns the order as recorded.
 */
export async function verifyManualOutcome(
  { db, processor }: ActivityServices,
  { order_id, key, now }: { order_id: string; key: string } & TimeOfTry,
): Promise<OrderSnapshot> {
  const order = await loadOrderSnapshot(db, order_id);
  const last = latestAttempt(order);
  if (last === undefined || isAttemptOpen(last.status)) return order;
  const { amount, currency } = order;
  const answer = await processor.findOperation(key, { amount, currency });
  const watch = await findWatch(db, last.id);
  const began = watch?.began ?? now;
  const is_undecided = !isMismatch(answer) && isUndecided(answer, began, now);
  // A workflow that restarts asks too: without any sign, the processor does not know an operation that was never sent.
  if (watch === undefined && is_undecided && (last.outcome_set_by_hand || answer !== 'not_found')) {
    // A sign arrived but the processor has no final outcome: poll until it has one.
    await insertWatch(db, last.id, { poll_at: nextLatePoll(now, now).poll_at, began: now });
    return order;
  }
  if (watch !== undefined && is_undecided) {
    // Recovery requests the next poll.
    const is_overdue = await postponeWatch(db, watch, now);
    if (is_overdue) await addAttention(db, order_id, CONTRADICTION_OVERDUE);
    return is_overdue ? await loadOrderSnapshot(db, order_id) : order;
  }
  const attention = contradictionOf(order, last, answer);
  const was_overdue = order.attention?.includes(CONTRADICTION_OVERDUE) === true;
  if (attention !== undefined) await addAttention(db, order_id, attention);
  if (was_overdue) await endAttention(db, order_id, CONTRADICTION_OVERDUE);
  if (watch !== undefined) await endWatch(db, last.id);
  const is_changed = attention !== undefined || was_overdue || watch !== undefined;
  return is_changed ? await loadOrderSnapshot(db, order_id) : order;
}

/** The actor of the audit trail. Throws a ValidationError for a reason that must not be stored. */
function authorOf({ operator, reason, command_line }: SetOutcomeInput) {
  if (holdsCardNumber(reason)) throw validationError('reason', 'A card number is never accepted.');
  const kind = command_line === undefined ? ('temporal' as const) : ('command_line' as const);
  return { actor: { kind, id: operator }, request_id: command_line?.request_id };
}
