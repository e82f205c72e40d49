import { Context } from '@temporalio/activity';
import {
  lastSettlement,
  noteSettlementsFetched,
  recordSettlements,
  type OpenSettlements,
  type UnpaidTransaction,
} from '../src/db/orders/settlements';
import { recordSettlementsAttention } from '../src/db/recovery/attentions';
import { requireReconciled } from '../src/db/backups/restores';
import { isProcessorInitiated } from '../src/domain/follow-up';
import { isAttemptOpen } from '../src/domain/order';
import { processorOrderId, transactionId } from '../src/ids';
import type { Settlement } from '../src/processor/wire';
import { currentInstant, withTimeOfTry, waitedMilliseconds } from './activity-time';
import type { TimeOfTry, ActivityServices } from './services';

/** How long a worker tries to start the workflow that records a settled chargeback; then the fetch is repeated. */
const RECORDED_WITHIN_MS = 10_000;

/** The result of fetching settlements. */
export interface SettlementFetch extends OpenSettlements {
  /** Transactions that were settled. */
  settled: number;
}

/**
 * Fetches and records the settlements since the last fetch, page by page. Repeat-safe: a page that was not recorded is
 * fetched again. Throws when the processor or Temporal does not answer, and while a restore has to be reconciled first.
 */
export async function fetchSettlements(
  { db, processor, workflows }: ActivityServices,
  input: TimeOfTry,
): Promise<SettlementFetch> {
  const began = withTimeOfTry(input, waitedMilliseconds());
  let settled = 0;
  for (;;) {
    await requireReconciled(db);
    const after = await lastSettlement(db);
    const settlements = await processor.settlements(after);
    for (const settlement of settlements) {
      await workflows.processor_notifications.settled(settlement, Date.now() + RECORDED_WITHIN_MS);
    }
    const recorded = await recordSettlements(db, {
      after,
      settlements: settlements.map(ofTransaction),
      now: currentInstant(began),
    });
    settled += recorded.settled;
    for (const unpaid of recorded.unpaid) await requestPollOf(workflows, unpaid);
    Context.current().cancellationSignal.throwIfAborted();
    Context.current().heartbeat({ settled });
    if (settlements.length === 0) break;
  }
  const open = await db.transaction(async (trx) => {
    await noteSettlementsFetched(trx);
    return await recordSettlementsAttention(trx, currentInstant(began));
  });
  return { settled, ...open };
}

/**
 * Polls the processor about a transaction that was settled although it is recorded as unpaid (rules 10.18). Recovery
 * does it if this call is lost.
 */
async function requestPollOf(
  { orders, follow_ups }: ActivityServices['workflows'],
  { transaction_id, order_id, status, is_payment }: UnpaidTransaction,
): Promise<void> {
  if (!isAttemptOpen(status)) await follow_ups.resumeWatch({ transaction_id });
  else await (is_payment ? orders : follow_ups).requestPoll(order_id);
}

/** A settlement with the transaction that records its operation. */
function ofTransaction(settled: Settlement) {
  const { operation: _operation, idempotency_key: _key, follow_up_order_id: _id, ...settlement } = settled;
  return { ...settlement, transaction_id: recordedIn(settled) };
}

/** The transaction that records an operation: the payment's, or that of the follow-up order. */
export function recordedIn({
  operation,
  idempotency_key,
  transaction_id,
  follow_up_order_id,
}: Pick<Settlement, 'operation' | 'idempotency_key' | 'transaction_id' | 'follow_up_order_id'>): string {
  const order_id = isProcessorInitiated(operation)
    ? processorOrderId(transaction_id, idempotency_key)
    : follow_up_order_id;
  return order_id === undefined ? transaction_id : transactionId(order_id, 1);
}
