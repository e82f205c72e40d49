import { setCurrentDetails } from '@temporalio/workflow';
import { erasing } from './activities';
import type { ErasureInput } from './messages';

/**
 * Erases the personal data of a customer (rules 29.3). Its position is in the record: a lost workflow goes on from it,
 * and one that is started after a restore of the record erases again. Returns how many payment orders it has erased.
 */
export async function erasure(input: ErasureInput): Promise<number> {
  for (;;) {
    const { orders, is_completed } = await erasing.eraseNext(input);
    setCurrentDetails(`**${is_completed ? 'Completed' : 'Running'}.** ${orders} payment orders erased.`);
    if (is_completed) return orders;
  }
}
