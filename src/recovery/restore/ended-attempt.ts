import { setChargeOutcome } from '../../../activities/manual-outcome';
import type { SetOutcomeInput } from '../../../workflows/messages';
import { endPeriod } from '../../db/backups/restores';
import type { Database, SqlTransaction } from '../../db/query';
import { moveAsPlanned, moveOrder } from '../../db/orders/move-order';
import { loadOrderSnapshot } from '../../db/orders/order-snapshot';
import type { StatusChange } from '../../domain/move';
import { isAttemptOpen, type Ending } from '../../domain/order';
import { latestAttempt, outcomeAwaitedFrom, transactionOf, type OrderSnapshot } from '../../domain/order-snapshot';
import { chargeIdempotencyKey } from '../../domain/transaction';
import { OPEN_ATTEMPT_STATUSES, UNPAID_ATTEMPT_STATUSES } from '../../domain/transitions';
import { reversalOrderId } from '../../ids';
import { currentTimeOf } from '../../time';
import { deadline, untilStored, type Restoration } from './restoration';
import type { KnownEnd, LateAttempt, SentToOrder } from './sent-to-order';

/** How attempts that had ended are ended again, before the order's workflow could send their charge. */

/** Has the workflow of an order read the record. */
export async function resumeOrder(
  { workflows }: Restoration,
  { id, project_id }: { id: string; project_id: string },
): Promise<void> {
  await workflows.orders.resume({ order_id: id, project_id }, deadline());
}

/**
 * Sets an outcome that an operator had set since the backup, unless it is known. It comes before the workflow reads
 * the record: an operation that the processor does not know would be sent again. Returns whether it was set.
 */
export async function setByHand(
  restoration: Restoration,
  order_id: string,
  manual_outcome: SetOutcomeInput | undefined,
  endOf: SentToOrder['endOf'],
): Promise<boolean> {
  if (manual_outcome === undefined) return false;
  const { db } = restoration;
  const { transaction_id } = manual_outcome;
  const order = await loadOrderSnapshot(db, order_id);
  const last = latestAttempt(order);
  if (last?.id !== transaction_id || !isAttemptOpen(last.status)) return false;
  const now = currentTimeOf(order);
  // A decline after the time for paying ends the order as expired.
  if (endOf(last)?.ended === 'expired') await endPeriod(db, 'orders', order_id, new Date(now));
  // It was processing when the outcome was set.
  if (outcomeAwaitedFrom(order) !== 'processor') {
    await moveOrder(db, order, { transaction_id, to: 'processing' }, { source: 'service', now });
  }
  await setChargeOutcome(restoration, { order_id, manual_outcome, now });
  return true;
}

/**
 * Ends the last attempt of the record as it had ended, if the processor does not know its charge, or does not say: its
 * workflow would send it now. An approval that comes all the same is given back (rules 10.11). Returns how it had
 * ended; `undefined` without such an attempt.
 */
export async function endUncharged(
  { db, operations }: Restoration,
  order_id: string,
  endOf: SentToOrder['endOf'],
): Promise<KnownEnd | undefined> {
  const order = await loadOrderSnapshot(db, order_id);
  const last = latestAttempt(order);
  const end = last && outcomeAwaitedFrom(order) !== undefined ? endOf(last) : undefined;
  if (end === undefined || (await operations.isSaidToBeKnown(chargeIdempotencyKey(end.transaction_id)))) {
    return undefined;
  }
  await endAttempt(db, order, end);
  return end;
}

/**
 * Records a late attempt as it had ended, in one SQL transaction. The workflow of its reversal then finds the
 * approval, and gives it back by the key that it had. Returns whether the attempt was ended.
 */
export async function endLate(
  restoration: Restoration,
  late: LateAttempt,
  write: (trx: SqlTransaction) => Promise<OrderSnapshot>,
): Promise<boolean> {
  const { db, workflows } = restoration;
  const { transaction_id } = late;
  const { order, is_ended } = await db.transaction(async (trx) => {
    const written = await write(trx);
    const ended = await endAttempt(trx, written, late);
    return { order: ended, is_ended: ended.version !== written.version };
  });
  await resumeOrder(restoration, order);
  const reverse = () => workflows.follow_ups.startReversal({ transaction_id });
  await reverse();
  await untilStored(restoration, reversalOrderId(transaction_id), 'reversal', reverse);
  return is_ended;
}

/** Ends an attempt as it had ended, unless its outcome is known. Returns the order afterwards. */
async function endAttempt(
  db: Database,
  order: OrderSnapshot,
  { transaction_id, ended, source }: LateAttempt,
): Promise<OrderSnapshot> {
  return await moveAsPlanned(db, order, (current) => {
    const change = changeToEnd(current, transaction_id, ended);
    return change && { change, details: { source, now: currentTimeOf(current) } };
  });
}

/** How the end of an attempt changes its order; `undefined`: it has ended. */
function changeToEnd(
  order: OrderSnapshot,
  transaction_id: string,
  ended: Ending | undefined,
): StatusChange | undefined {
  const status = transactionOf(order, transaction_id)?.status;
  if (status === undefined || !OPEN_ATTEMPT_STATUSES.includes(status)) return undefined;
  // One that was given up has no other end; its order ends with it.
  const is_unknown = !UNPAID_ATTEMPT_STATUSES.includes(status);
  if (ended !== undefined && !is_unknown) return { ended };
  return { transaction_id, to: 'error', ...(ended !== undefined && { ended }) };
}
