import type { DeliveryId } from '../domain/delivery';
import { DELIVERY_MOVES, sourcesOf, type DeliveryStatus } from '../domain/transitions';
import { iso, rows, type Database } from './connection';

/** A webhook and whom it goes to; its body is made when it is sent. */
export interface Delivery extends DeliveryId {
  url: string;
  status: DeliveryStatus;
  project_id: string;
  is_test: boolean;
  webhook_secret: string;
}

/** How one attempt ended: `status_code` when the receiver answered, `failure` in words when it did not count as received. */
export interface DeliveryAttempt {
  attempt: number;
  /** Allowed for connecting, and again for reading, in milliseconds. */
  time_limit_ms: number;
  /** Epoch milliseconds. */
  started: number;
  duration_ms: number;
  status_code?: number | undefined;
  failure?: string | undefined;
}

/** The webhook; `undefined` when there is none. */
export async function findDelivery(db: Database, { order_id, n }: DeliveryId): Promise<Delivery | undefined> {
  const [delivery] = await rows<Delivery>(
    db,
    `select d.order_id, d.n, d.url, d.status, o.project_id, p.is_test, p.webhook_secret
     from webhook_deliveries d join orders o on o.id = d.order_id join projects p on p.id = o.project_id
     where d.order_id = :order_id and d.n = :n`,
    { order_id, n },
  );
  return delivery;
}

/**
 * Records an attempt and, if it decides the delivery, moves that too, in one statement.
 * Repeat-safe: a recorded attempt stays as it is.
 */
export async function recordAttempt(
  db: Database,
  { order_id, n }: DeliveryId,
  attempt: DeliveryAttempt,
  to: DeliveryStatus,
): Promise<void> {
  await rows(
    db,
    `with a as (
       insert into webhook_attempts (order_id, n, attempt, time_limit_ms, started, duration_ms, status_code, failure)
       values (:order_id, :n, :attempt, :time_limit_ms, :started, :duration_ms, :status_code, :failure)
       on conflict do nothing
     )
     update webhook_deliveries set status = :to
     where order_id = :order_id and n = :n and status = any(:sources::text[])`,
    {
      order_id,
      n,
      ...attempt,
      started: iso(attempt.started),
      status_code: attempt.status_code ?? null,
      failure: attempt.failure ?? null,
      to,
      sources: sourcesOf(DELIVERY_MOVES, to),
    },
  );
}
