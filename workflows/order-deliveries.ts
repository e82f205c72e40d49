import type { OrderSnapshot } from '../src/domain/order-snapshot';
import { localActivities } from './activities';
import type { RecordedObject } from './object/recorded-object';

/** Starts the webhooks of an order's status changes, and removes them from the record that the workflow holds. */
export async function startDueDeliveries(order: RecordedObject<OrderSnapshot>): Promise<void> {
  const { id: order_id, project_id, deliveries } = order.requireRecord();
  await localActivities.startDeliveries({ order_id, project_id, deliveries });
  // Read again: a change applied meanwhile may have added a delivery.
  const record = order.requireRecord();
  order.applyRecord({ ...record, deliveries: record.deliveries.filter((n) => !deliveries.includes(n)) });
}
