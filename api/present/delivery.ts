import type { DeliveryAnswer } from '../../src/contract/delivery';
import type { StoredDelivery } from '../../src/db/webhooks/stored-deliveries';
import { formatDeliveryId } from '../../src/domain/delivery';
import { formatTimestamp } from './format';

/** A delivery as both hosts show it (rules 13.12). */
export function presentDelivery(view: StoredDelivery): DeliveryAnswer {
  const { order_id, project_id, url, status, created, next_attempt_at, redelivery_of, attempts } = view;
  return {
    id: formatDeliveryId(view),
    order_id,
    project_id,
    event: 'status_changed',
    url,
    status,
    created: formatTimestamp(created),
    ...(next_attempt_at !== null && status !== 'paused' && { next_attempt_at: formatTimestamp(next_attempt_at) }),
    ...(redelivery_of !== null && { redelivery_of: formatDeliveryId({ order_id, n: redelivery_of }) }),
    attempts: attempts.map(({ attempt, started, duration_ms, status_code, failure }) => ({
      n: attempt,
      started: formatTimestamp(started),
      duration_ms,
      ...(status_code !== null && { status_code }),
      ...(failure !== null && { error: failure }),
    })),
  };
}
