import { v5 as uuidv5 } from 'uuid';
import { insertReversal } from '../src/db/follow-ups';
import { moveOrder } from '../src/db/orders';
import { findPayment } from '../src/db/transactions';
import { FOLLOW_UPS, followUpKey } from '../src/domain/follow-up';
import { lastTransaction, type OrderRecord } from '../src/domain/move';
import { chargeKey, outcomeOf } from '../src/domain/transaction';
import { withFailures } from './failure';
import type { Services } from './services';

interface AtTime {
  now: number;
}

/** Orders that follow a payment order: written beside it, then carried out at the processor under a derived key. */
export function followUpActivities({ db, processor }: Pick<Services, 'db' | 'processor'>) {
  return withFailures({
    /**
     * Writes the reversal of a payment that the processor approved after its transaction had expired or was cancelled.
     * Null when there is nothing to give back: it was not approved, or it counts as paid. Throws while the processor does not answer.
     */
    async recordReversal({ transaction_id, now }: { transaction_id: string } & AtTime): Promise<OrderRecord | null> {
      const answer = await processor.ask(chargeKey(transaction_id));
      if (answer === 'unknown') throw new Error('the processor does not answer');
      if (answer === 'never_seen' || outcomeOf(answer).to !== 'accepted') return null;
      const id = uuidv5('reversal', transaction_id);
      const { credit_debit } = FOLLOW_UPS.reversal;
      const written = { id, kind: 'reversal', original_transaction_id: transaction_id, transaction_id: uuidv5('transaction:1', id), credit_debit, now } as const;
      return (await insertReversal(db, written)) ?? null;
    },

    /** Gives the money back at the processor; an outcome that is not known leaves the order `processing`, to be asked for again. */
    async reverse({ order, original_transaction_id, now }: { order: OrderRecord; original_transaction_id: string } & AtTime): Promise<OrderRecord> {
      const { payment_method_details: _, ...payment } = await findPayment(db, original_transaction_id);
      const key = followUpKey(original_transaction_id, 'reversal', order.order_id);
      const { amount, currency } = order;
      const answer = await processor.operate({ operation: 'reversal', ...payment, follow_up_order_id: order.order_id, amount, currency }, key);
      const { to, result } = outcomeOf(answer);
      const known = answer === 'unknown' ? {} : { response_code: answer.response_code, response_code_description: answer.response_code_description };
      const transaction_id = lastTransaction(order)?.transaction_id ?? '';
      return await moveOrder(db, order, { transaction_id, to }, { source: answer === 'unknown' ? 'service' : 'processor', now, result, transaction: known });
    },
  });
}
