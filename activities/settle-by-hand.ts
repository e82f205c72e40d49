import { recordFollowUpOutcome } from '../src/db/follow-ups';
import { moveAsPlanned } from '../src/db/move-order';
import { loadOrder } from '../src/db/order-record';
import { setAttention } from '../src/db/update-order';
import { movesReservedMoney } from '../src/domain/follow-up';
import { lastTransaction, type OrderRecord } from '../src/domain/order-record';
import { contradictionOf, planSettlement, settlementOf, type Settlement } from '../src/domain/outcome';
import type { FollowUpInput } from '../workflows/messages';
import { withFailures } from './failure';
import type { AtTime, Services } from './services';

/**
 * What an operator does about an outcome that the processor will never tell (rules 10.14), for orders and follow-up
 * orders. Safe to repeat: an outcome that is recorded stays.
 */
export function settleByHandActivities({ db, processor, workflows }: Pick<Services, 'db' | 'processor' | 'workflows'>) {
  return withFailures({
    /** Gives a charge the outcome that the operator decided, unless it has one. Returns the order as recorded. */
    async settleCharge(
      input: { order_id: string; transaction_id: string; settlement: Settlement } & AtTime,
    ): Promise<OrderRecord> {
      const order = await loadOrder(db, input.order_id);
      await moveAsPlanned(db, order, (current) => planSettlement(current, input));
      return await loadOrder(db, input.order_id);
    },

    /**
     * Like settleCharge, for a follow-up order. The amount it had set aside is moved or freed, under the rules of its
     * money.
     */
    async settleFollowUp(input: FollowUpInput & { settlement: Settlement } & AtTime): Promise<OrderRecord> {
      const order = await loadOrder(db, input.id);
      const { to, details } = settlementOf(input.settlement, input.now);
      await recordFollowUpOutcome(db, order, { ...input, amount: order.amount }, to, details);
      if (movesReservedMoney(input.kind)) await workflows.orders.recordChanged(input.original_order_id);
      return await loadOrder(db, input.id);
    },

    /**
     * Asks the processor about an outcome that was settled by hand. A contradiction becomes the order's `attention`.
     * Returns the order as recorded.
     */
    async verifySettlement({ order_id, key }: { order_id: string; key: string }): Promise<OrderRecord> {
      const order = await loadOrder(db, order_id);
      const last = lastTransaction(order);
      if (last?.settled_by_hand !== true) return order;
      const attention = contradictionOf(last.status, await processor.findOperation(key));
      if (attention === undefined) return order;
      await setAttention(db, order_id, attention);
      return { ...order, attention };
    },
  });
}
