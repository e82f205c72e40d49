import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { OrderRecord } from '../src/domain/move';
import { askAgainAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { answering, asking } from './activities';
import type { ReversalInput } from './messages';
import { describe } from './order-details';

/**
 * A payment that was approved after its order had expired or was cancelled: the customer gets the money back at once, and the
 * merchant sees it as a reversal order (DECISIONS, Statuses, Late approval).
 */
export async function reversal({ transaction_id }: ReversalInput): Promise<string> {
  const recorded = await asking.recordReversal({ transaction_id, now: Date.now() });
  if (recorded === null) return 'nothing to give back';
  let present: OrderRecord = recorded;
  for (let asked = 0; !isFinal(ORDER_MOVES, present.status); asked += 1) {
    if (asked > 0) await sleep(askAgainAfter(asked), { summary: 'until the processor is asked for the outcome again' });
    present = await asking.reverse({ order: present, original_transaction_id: transaction_id, now: Date.now() });
    setCurrentDetails(describe(present));
    const { order_id, deliveries } = present;
    if (deliveries.length > 0) await answering.startDeliveries({ order_id, deliveries });
    present = { ...present, deliveries: [] };
  }
  return present.status;
}
