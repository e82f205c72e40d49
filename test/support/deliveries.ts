import type { Database } from '../../src/db/connection';
import { moveOrder } from '../../src/db/move-order';
import { NOW, aStoredOrder } from './builders';
import { PROJECT } from './database';

/** A webhook in the record that no workflow delivers. */
export async function aDelivery(
  db: Database,
  project_id: string = PROJECT.id,
): Promise<{ order_id: string; n: number }> {
  const order = await aStoredOrder(db, { project_id, webhook_url: 'https://shop.example/hook' });
  await moveOrder(db, order, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  return { order_id: order.id, n: 1 };
}
