import type { OrderRecord } from '../src/domain/order-record';
import { local } from './activities';
import type { RecordedObject } from './object/recorded-object';

/** Starts the webhooks of an order's status changes, and removes them from the record that the workflow holds. */
export async function startDeliveries(order: RecordedObject<OrderRecord>): Promise<void> {
  const { id: order_id, project_id, deliveries } = order.requireRecord();
  await local.startDeliveries({ order_id, project_id, deliveries });
  // The record as it is now: another change may have been applied meanwhile, with a delivery of its own.
  const record = order.requireRecord();
  order.record = { ...record, deliveries: record.deliveries.filter((n) => !deliveries.includes(n)) };
}
