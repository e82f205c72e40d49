import type { DeliveryAnswer } from '../../src/contract/delivery';
import type { DeliveryView } from '../../src/db/webhooks/delivery-views';
import { timestamp } from './order';

/** A delivery as both hosts show it (rules 13.12). */
export function presentDelivery(view: DeliveryView): DeliveryAnswer {
  const { order_id, n, project_id, url, status, created, next_attempt_at, redelivery_of, attempts } = view;
  return {
    id: `${order_id}-${n}`,
    order_id,
    project_id,
    event: 'status_changed',
    url,
    status,
    created: timestamp(created),
    ...(next_attempt_at !== null && status !== 'paused' && { next_attempt_at: timestamp(next_attempt_at) }),
    ...(redelivery_of !== null && { redelivery_of: `${order_id}-${redelivery_of}` }),
    attempts: attempts.map(({ attempt, started, duration_ms, status_code, failure }) => ({
      n: attempt,
      started: timestamp(started),
      duration_ms,
      ...(status_code !== null && { status_code }),
      ...(failure !== null && { error: failure }),
    })),
  };
}
