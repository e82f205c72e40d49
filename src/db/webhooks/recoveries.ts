import { WEBHOOK_ATTEMPTS_MAX, type DeliveryKey } from '../../domain/delivery';
import {
  DELIVERY_STATUSES,
  OPEN_DELIVERY_STATUSES,
  OPEN_WEBHOOK_RECOVERY_STATUSES,
  WEBHOOK_RECOVERY_MOVES,
  statusesBefore,
  type WebhookRecoveryStatus,
} from '../../domain/transitions';
import { FAILURES_IN_A_ROW, type PausedBy } from '../../domain/webhook-recovery';
import { ServiceError } from '../../errors';
import { toIsoTime } from '../../time';
import { hasRows, modifiedAtSql, queryRow, queryRows, queryValue, type Database, type SqlTransaction } from '../query';
import {
  BY_CREATED,
  keyset,
  readPage,
  type ListPage,
  type PagePosition,
  type PageRequest,
  type SortKey,
} from '../pages';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';
import { lockOrder } from './stored-deliveries';

/** A recovery of a project's webhooks (rules 13.16). Instants are ISO 8601 texts in UTC. */
export interface StoredWebhookRecovery {
  id: string;
  project_id: string;
  merchant_id: string;
  since: string;
  until: string;
  status: WebhookRecoveryStatus;
  paused_by: PausedBy | null;
  /** The delivery up to which they were looked at. */
  position: PagePosition | null;
  /** Webhooks sent so far; of these, received; of these, those whose first attempt has not ended. */
  sent: number;
  delivered: number;
  unanswered: number;
  /** Whether the last first attempts since it was started or resumed have all failed (rules 13.18). */
  is_failing: boolean;
  request_id: string;
  created: string;
  modified: string;
  completed: string | null;
}

const OF_RECOVERY = 'webhook_deliveries d where d.recovery_id = r.id';
const IS_ATTEMPTED = `exists (select 1 from webhook_attempts a where a.order_id = d.order_id and a.n = d.n)`;

/** What decides how a recovery goes on. How many were delivered is counted only where that is shown: it takes time. */
export type WebhookRecoveryState = Omit<StoredWebhookRecovery, 'delivered'>;

const selectWith = (count: string) => `
  select r.id, r.project_id, p.merchant_id, r.since, r.until, r.status, r.paused_by, r.position, r.sent, r.request_id,
    r.created, r.modified, r.completed,
    ${count}
    (select count(*)::int from ${OF_RECOVERY} and d.status = 'new' and not ${IS_ATTEMPTED}) as unanswered,
    (select count(*) = ${FAILURES_IN_A_ROW} and bool_and(last.failure is not null) from (
       select a.failure from webhook_deliveries d
       join webhook_attempts a on a.order_id = d.order_id and a.n = d.n and a.attempt = 1
       where d.recovery_id = r.id and d.recovery_n > r.resumed_at_sent
       order by d.recovery_n desc limit ${FAILURES_IN_A_ROW}
     ) last) as is_failing
  from webhook_recoveries r join projects p on p.id = r.project_id`;
const STATE = selectWith('');
const VIEW = selectWith(`(select count(*)::int from ${OF_RECOVERY} and d.status = 'delivered') as delivered,`);

/** The state of a recovery; `undefined` when there is none. */
export async function findWebhookRecoveryState(db: Database, id: string): Promise<WebhookRecoveryState | undefined> {
  return await queryRow<WebhookRecoveryState>(db, `${STATE} where r.id = :id`, { id });
}

/** The recovery; `undefined` when there is none. */
export async function findWebhookRecovery(db: Database, id: string): Promise<StoredWebhookRecovery | undefined> {
  return await queryRow<StoredWebhookRecovery>(db, `${VIEW} where r.id = :id`, { id });
}

/** Recoveries, newest first. */
export async function listWebhookRecoveries(
  db: Database,
  filter: { merchant_id?: string | undefined; project_id?: string | undefined },
  page: PageRequest,
): Promise<ListPage<StoredWebhookRecovery>> {
  return await readPage(db, page, { select: VIEW, equal: filter, key: BY_CREATED });
}

/** Writes a recovery. Throws Conflict while another one of the project is open (rules 13.16). */
export async function insertWebhookRecovery(
  trx: SqlTransaction,
  recovery: Pick<StoredWebhookRecovery, 'id' | 'project_id' | 'since' | 'until' | 'request_id'>,
  now: Date,
): Promise<void> {
  const made = await queryRows(
    trx,
    `insert into webhook_recoveries (id, project_id, since, until, status, request_id, created, modified)
     values (:id, :project_id, :since, :until, 'running', :request_id, :now, :now)
     on conflict do nothing returning id`,
    { ...recovery, now },
  );
  if (made.length > 0) return;
  const open = await queryRow<{ id: string; status: string }>(
    trx,
    'select id, status from webhook_recoveries where project_id = :project_id and status = any(:open::text[])',
    { project_id: recovery.project_id, open: OPEN_WEBHOOK_RECOVERY_STATUSES },
  );
  const which = open === undefined ? 'Another recovery' : `The recovery ${open.id}`;
  const state = open?.status === 'paused' ? 'is paused: resume or stop it first' : 'is running';
  throw new ServiceError('Conflict', `${which} of the project ${state}.`);
}

/** Locks the recovery until the end of the SQL transaction. */
export async function lockWebhookRecovery(trx: SqlTransaction, id: string): Promise<void> {
  await queryRows(trx, 'select 1 from webhook_recoveries where id = :id for update', { id });
}

/** Moves a recovery, unless it has moved meanwhile; a resumed one starts to count failures anew. */
export async function moveWebhookRecovery(
  db: Database,
  id: string,
  { to, paused_by, now }: { to: WebhookRecoveryStatus; paused_by?: PausedBy; now: Date },
): Promise<void> {
  await queryRows(
    db,
    `update webhook_recoveries set status = :to, paused_by = :paused_by, ${modifiedAtSql('webhook_recoveries')},
       completed = case when :to = 'completed' then :now::timestamptz end,
       resumed_at_sent = case when :to = 'running' then sent else resumed_at_sent end
     where id = :id and status = any(:sources::text[])`,
    { id, to, paused_by: paused_by ?? null, now, sources: statusesBefore(WEBHOOK_RECOVERY_MOVES, to) },
  );
}

/** A delivery that a recovery is to send. */
export interface FailedDelivery extends DeliveryKey {
  project_id: string;
  clock_offset_ms: number;
  /** It has failed and is sent as a new delivery; otherwise its workflow was never begun. */
  has_failed: boolean;
  /** Its place in the order of creation. */
  position: PagePosition;
}

const NOT_FAILED = DELIVERY_STATUSES.filter((status) => status !== 'failed');

/** The first delivery of the event of the delivery `d`. */
const eventOf = (d: string) => `coalesce(${d}.redelivery_of, ${d}.n)`;
/** Whether the last attempt of the failed delivery `d` was made in the time of the recovery. */
const attemptedInTime = (d: string) => `exists (
  select 1 from webhook_attempts a where a.order_id = ${d}.order_id and a.n = ${d}.n and a.attempt = ${WEBHOOK_ATTEMPTS_MAX}
    and a.started between :since and :until)`;

/** With the interval no index on `next_attempt_at` is read, which has the webhooks of all projects. */
const NEVER_BEGUN = `d.status = 'new' and d.next_attempt_at + interval '0' < :never_begun_before and not ${IS_ATTEMPTED}
  and d.recovery_id is distinct from :id`;
/**
 * A delivery is not sent if the receiver has got the same or a later event of its order, or is to get one, or if a
 * later failed one of the time is sent instead: of a later event, or a later delivery of the same event. With offset
 * these are looked up: an anti join may read the deliveries of all orders.
 */
const FAILED = `d.status = 'failed' and not exists (
  select 1 from webhook_deliveries later
  where later.order_id = d.order_id and later.n <> d.n and ${eventOf('later')} >= ${eventOf('d')}
    and (later.status = any(:not_failed::text[])
      or (${eventOf('later')}, later.n) > (${eventOf('d')}, d.n) and later.created <= :until
        and (later.created >= :since or ${attemptedInTime('later')}))
  offset 0)`;

/** Oldest first. */
const BY_CREATION = [
  ['d.created', 'timestamptz'],
  ['d.order_id', 'uuid'],
  ['d.n', 'int'],
] as const satisfies SortKey;

/**
 * The deliveries that were written before the time and ended in it, found by their last attempts: reading them by
 * creation would begin with the oldest failed one of the project. With offset these are found by their index, and each is
 * looked up.
 */
const ATTEMPTED_IN_TIME = `(
    select order_id, n from webhook_attempts
    where project_id = :project_id and started between :since and :until and failure is not null
      and attempt = ${WEBHOOK_ATTEMPTS_MAX}
    offset 0
  ) attempted cross join lateral (
    select * from webhook_deliveries where order_id = attempted.order_id and n = attempted.n offset 0
  ) d`;

/** What a recovery looks at, in the order of creation; each part has its own index. */
const PARTS = [
  // Once the position is in the time, this part is left out before anything is read.
  {
    from: ATTEMPTED_IN_TIME,
    where: `${FAILED} and d.created < :since and coalesce(cast(:reached as timestamptz), '-infinity') < :since`,
  },
  { from: 'webhook_deliveries d', where: `${FAILED} and d.created between :since and :until` },
  { from: 'webhook_deliveries d', where: `${NEVER_BEGUN} and d.created between :since and :until` },
];

/** What a recovery looks at. */
export type RecoveredTime = Pick<StoredWebhookRecovery, 'id' | 'project_id' | 'since' | 'until' | 'position'>;

/** The deliveries after the position, at most `limit`. */
function candidates({ id, project_id, since, until, position }: RecoveredTime, now: number, limit: number) {
  const after = keyset(BY_CREATION, 'asc', position ?? undefined);
  const in_order = `order by ${after.order} limit :limit`;
  const parts = PARTS.map(
    ({ from, where }) => `(
  select d.order_id, d.n, d.project_id, ${CLOCK_OFFSET} as clock_offset_ms, d.status = 'failed' as has_failed, d.created,
    ${after.position} as position
  from ${from} join orders o on o.id = d.order_id
  where d.project_id = :project_id and ${where} and ${after.isAfter ?? 'true'}
  ${in_order})`,
  );
  const never_begun_before = toIsoTime(now - BEGUN_WITHIN_MS);
  const reached = position?.[0] ?? null;
  return {
    from: `(${parts.join(' union all ')}) d`,
    in_order,
    bindings: {
      ...{ id, project_id, since, until, reached, never_begun_before, not_failed: NOT_FAILED, limit },
      ...after.bindings,
    },
  };
}

/** More are not counted: each takes time, and a request waits for the number (rules 13.18). */
const REMAINING_MAX = 10_000;

/** A webhook is due when it is written: one without an attempt after this long was never begun. Milliseconds. */
const BEGUN_WITHIN_MS = 60_000;

/** The next deliveries that a recovery is to send, oldest first; `now` in epoch milliseconds. */
export async function nextToRecover(
  db: Database,
  recovery: WebhookRecoveryState,
  { now, limit }: { now: number; limit: number },
): Promise<FailedDelivery[]> {
  const { from, in_order, bindings } = candidates(recovery, now, limit);
  return await queryRows<FailedDelivery>(db, `select * from ${from} ${in_order}`, bindings);
}

/** How many deliveries a recovery is still to send; counted up to REMAINING_MAX. */
export async function countToRecover(db: Database, recovery: RecoveredTime, now: number): Promise<number> {
  const { from, bindings } = candidates(recovery, now, REMAINING_MAX);
  return await queryValue<number>(db, `select least(count(*), :limit)::int as remaining from ${from}`, bindings);
}

/**
 * Whether a delivery that was found is still to be sent. Locks the order of a failed one until the end of the SQL
 * transaction, so that no event and no redelivery is written meanwhile; `noteRecovered` decides about the others.
 */
export async function isStillToRecover(
  trx: SqlTransaction,
  { since, until }: WebhookRecoveryState,
  { order_id, n, has_failed }: FailedDelivery,
): Promise<boolean> {
  if (!has_failed) return true;
  await lockOrder(trx, order_id);
  return await hasRows(
    trx,
    `select 1 from webhook_deliveries d where d.order_id = :order_id and d.n = :n and ${FAILED}`,
    { order_id, n, since, until, not_failed: NOT_FAILED },
  );
}

/** The deliveries of a recovery that are due and have no attempt: a worker may have ended before it started them. */
export async function unattemptedDeliveries(db: Database, { id, project_id }: WebhookRecoveryState) {
  return (
    await queryRows<DeliveryKey>(
      db,
      `select d.order_id, d.n from webhook_deliveries d where d.recovery_id = :id and d.status = 'new' and not ${IS_ATTEMPTED}`,
      { id },
    )
  ).map((delivery) => ({ ...delivery, project_id }));
}

/**
 * Notes that a recovery has looked at a delivery, in the SQL transaction that sends it. Returns the number of the next
 * one; `undefined` when the recovery does not run any more, or another worker has looked at the delivery.
 */
export async function takeToRecover(
  trx: SqlTransaction,
  { id, position: before }: WebhookRecoveryState,
  { position }: FailedDelivery,
  now: Date,
): Promise<number | undefined> {
  const taken = await queryRow<{ sent: number }>(
    trx,
    `update webhook_recoveries set position = :position, ${modifiedAtSql('webhook_recoveries')}
     where id = :id and status = 'running' and position::text is not distinct from :before::text
     returning sent`,
    { id, position: JSON.stringify(position), before: before === null ? null : JSON.stringify(before), now },
  );
  return taken && taken.sent + 1;
}

/** Makes a delivery that is open the recovery's n-th one. `false`: it has ended meanwhile. */
export async function noteRecovered(
  trx: SqlTransaction,
  recovery_id: string,
  { order_id, n }: DeliveryKey,
  recovery_n: number,
): Promise<boolean> {
  return await hasRows(
    trx,
    `with noted as (
       update webhook_deliveries set recovery_id = :recovery_id, recovery_n = :recovery_n
       where order_id = :order_id and n = :n and status = any(:open::text[]) returning 1
     )
     update webhook_recoveries set sent = :recovery_n where id = :recovery_id and exists (select from noted)
     returning 1`,
    { recovery_id, recovery_n, order_id, n, open: OPEN_DELIVERY_STATUSES },
  );
}
