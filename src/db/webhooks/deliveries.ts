import { WEBHOOK_ATTEMPTS_MAX, isSlowAttempt, type DeliveryKey, type DeliveryProgress } from '../../domain/delivery';
import { DELIVERY_MOVES, OPEN_DELIVERY_STATUSES, isFinal, statusesBefore } from '../../domain/transitions';
import { toIsoTime } from '../../time';
import { epochMsSql, objectOf, type RowOf } from '../columns';
import { prepared, queryRows, type Database, type SqlTransaction } from '../query';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';
import { WEBHOOK_SECRETS, type StoredWebhookSecrets } from './webhook-secrets';

/** A webhook, with its receiver and progress. The body is made when it is sent. */
export interface Delivery extends DeliveryKey, DeliveryProgress, StoredWebhookSecrets {
  url: string;
  /** The first delivery of the same event; null on that one. */
  redelivery_of: number | null;
  project_id: string;
  merchant_id: string;
  is_test: boolean;
  /** The request that caused it. */
  request_id?: string;
  /** Postgres is read-only: what becomes of an attempt could not be recorded. */
  is_read_only: boolean;
}

/** The result of one attempt: `status_code` if the receiver answered, `failure` in words if the attempt failed. */
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

type DeliveryRow = RowOf<Omit<Delivery, 'is_slow'>> & { duration_ms: number | null };

const selectDelivery = prepared<DeliveryRow>(
  'find delivery',
  `select d.order_id, d.n, d.url, d.redelivery_of, d.request_id, d.status, ${epochMsSql('d.next_attempt_at')} as next_attempt_at,
     o.project_id, p.merchant_id, p.is_test, current_setting('transaction_read_only') = 'on' as is_read_only,
     ${WEBHOOK_SECRETS}, ${CLOCK_OFFSET} as clock_offset_ms,
     coalesce(a.attempt, 0) as attempts, a.failure, a.duration_ms
   from webhook_deliveries d join orders o on o.id = d.order_id join projects p on p.id = o.project_id
     left join lateral (
       select attempt, failure, duration_ms from webhook_attempts
       where order_id = d.order_id and n = d.n order by attempt desc limit 1
     ) a on true
   where d.order_id = :order_id and d.n = :n`,
);

/** The webhook; `undefined` when there is none. */
export async function findDelivery(db: Database, { order_id, n }: DeliveryKey): Promise<Delivery | undefined> {
  const [row] = await selectDelivery(db, { order_id, n });
  if (row === undefined) return undefined;
  const { next_attempt_at, failure, request_id, duration_ms, ...delivery } = row;
  return {
    ...delivery,
    ...objectOf<Pick<Delivery, 'next_attempt_at' | 'failure' | 'request_id'>>({ next_attempt_at, failure, request_id }),
    is_slow: duration_ms !== null && isSlowAttempt(duration_ms),
  };
}

/** A webhook that is neither delivered nor failed; `next_attempt_at` in epoch milliseconds. */
export interface OpenDelivery extends DeliveryKey, Pick<DeliveryProgress, 'status' | 'attempts'> {
  project_id: string;
  next_attempt_at: number;
}

/** A query for the ids of orders, which may be many. */
export interface OrderIds {
  sql: string;
  bindings: Record<string, string | string[]>;
}

/** The open webhooks of these orders, the next attempt first; with `limit` no more than that. */
export async function openDeliveriesOf(
  db: Database,
  { sql, bindings }: OrderIds,
  limit: number | null = null,
): Promise<OpenDelivery[]> {
  return await queryRows<OpenDelivery>(
    db,
    `select d.order_id, d.n, d.status, ${epochMsSql('d.next_attempt_at')} as next_attempt_at, d.project_id,
       (select count(*)::int from webhook_attempts a where a.order_id = d.order_id and a.n = d.n) as attempts
     from webhook_deliveries d
     where d.order_id in (${sql}) and d.status = any(:open::text[]) order by d.next_attempt_at
     limit :limit`,
    { ...bindings, limit, open: OPEN_DELIVERY_STATUSES },
  );
}

const RECORD_ATTEMPT = `
  with a as (
     insert into webhook_attempts (order_id, n, attempt, time_limit_ms, started, duration_ms, status_code, failure)
     values (:order_id, :n, :attempt, :time_limit_ms, :started, :duration_ms, :status_code, :failure)
     on conflict do nothing
     returning order_id, n
   ), d as (
     update webhook_deliveries d set status = coalesce(:to, d.status), next_attempt_at = :next_attempt_at
     from a where d.order_id = a.order_id and d.n = a.n and d.status = any(:sources::text[])
     returning d.order_id, d.n, d.project_id
   )`;
const insertAttempt = prepared('record attempt', `${RECORD_ATTEMPT} select n from d`);

/** After the last attempt has failed an operator has to look. */
const insertLastAttempt = prepared(
  'record last attempt',
  `${RECORD_ATTEMPT}, attention as (
     insert into attentions (object_kind, object_id, project_id, reason)
     select 'webhook', d.order_id || '-' || d.n, d.project_id, 'webhook failed ${WEBHOOK_ATTEMPTS_MAX} times' from d
     on conflict do nothing
   )
   select n from d`,
);

/**
 * Records an attempt and the delivery's new progress, in one statement. Repeat-safe: returns `false` and changes
 * nothing when the attempt is recorded already.
 */
export async function recordAttempt(
  db: Database,
  { order_id, n }: DeliveryKey,
  attempt: DeliveryAttempt,
  after: Pick<DeliveryProgress, 'status' | 'next_attempt_at'>,
): Promise<boolean> {
  const is_final = isFinal(DELIVERY_MOVES, after.status);
  const record = after.status === 'failed' ? insertLastAttempt : insertAttempt;
  const updated = await record(db, {
    order_id,
    n,
    ...attempt,
    started: toIsoTime(attempt.started),
    status_code: attempt.status_code ?? null,
    failure: attempt.failure ?? null,
    // A failed attempt that is not the last leaves the status: the delivery may have been paused meanwhile.
    to: is_final ? after.status : null,
    next_attempt_at: after.next_attempt_at === undefined ? null : toIsoTime(after.next_attempt_at),
    sources: is_final ? statusesBefore(DELIVERY_MOVES, after.status) : OPEN_DELIVERY_STATUSES,
  });
  return updated.length === 1;
}

/** Writes the delivery as it is. Waits for a statement that writes it, and throws while none can be committed. */
export async function confirmWritable(db: Database, { order_id, n }: DeliveryKey): Promise<void> {
  await queryRows(
    db,
    'update webhook_deliveries set next_attempt_at = next_attempt_at where order_id = :order_id and n = :n',
    { order_id, n },
  );
}

/** Locks the delivery until the end of the SQL transaction. */
export async function lockDelivery(trx: SqlTransaction, { order_id, n }: DeliveryKey): Promise<void> {
  await queryRows(trx, 'select 1 from webhook_deliveries where order_id = :order_id and n = :n for update', {
    order_id,
    n,
  });
}

/** Writes the change of a request (rules 13.10) to a locked delivery. */
export async function updateDelivery(
  trx: SqlTransaction,
  { order_id, n }: DeliveryKey,
  { status, next_attempt_at }: Pick<DeliveryProgress, 'status' | 'next_attempt_at'>,
): Promise<void> {
  await queryRows(
    trx,
    `update webhook_deliveries set status = :status, next_attempt_at = :next_attempt_at
     where order_id = :order_id and n = :n`,
    { order_id, n, status, next_attempt_at: next_attempt_at === undefined ? null : toIsoTime(next_attempt_at) },
  );
}
