import { Context } from '@temporalio/activity';
import { lastSettlement, openSettlements, recordSettlements, type OpenSettlements } from '../src/db/settlements';
import { isProcessorInitiated } from '../src/domain/follow-up';
import { processorOrderId, transactionId } from '../src/ids';
import type { Settlement } from '../src/processor/wire';
import type { AtTime, Services } from './services';

/** The result of fetching settlements. */
export interface SettlementFetch extends OpenSettlements {
  /** Transactions that were settled. */
  settled: number;
}

/** Activities about what the processor pays out. */
export const settlementActivities = ({ db, processor }: Pick<Services, 'db' | 'processor'>) => ({
  /**
   * Fetches what the processor has settled since the last fetch, page by page, and records it. Repeat-safe: a page
   * whose answer or record was lost is fetched again. Throws when the processor does not answer.
   */
  async fetchSettlements({ now }: AtTime): Promise<SettlementFetch> {
    let settled = 0;
    for (;;) {
      const after = await lastSettlement(db);
      const settlements = await processor.settlements(after);
      settled += await recordSettlements(db, { after, settlements: settlements.map(ofTransaction), now });
      Context.current().heartbeat({ settled });
      if (settlements.length === 0) break;
    }
    return { settled, ...(await openSettlements(db)) };
  },
});

/** The transaction that the operation belongs to: of the payment, or of the follow-up order. */
function ofTransaction({ operation, idempotency_key, transaction_id, follow_up_order_id, ...settlement }: Settlement) {
  const order_id = isProcessorInitiated(operation)
    ? processorOrderId(transaction_id, idempotency_key)
    : follow_up_order_id;
  return { ...settlement, transaction_id: order_id === undefined ? transaction_id : transactionId(order_id, 1) };
}
