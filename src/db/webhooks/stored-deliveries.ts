import { formatDeliveryId, type DeliveryKey } from '../../domain/delivery';
import type { EndedDelivery } from '../../domain/forecast';
import { OPEN_DELIVERY_STATUSES, type DeliveryStatus } from '../../domain/transitions';
import { ServiceError } from '../../errors';
import { queryRow, queryRows, type Database, type SqlTransaction } from '../query';
import { readPage, readPart, type ListPage, type PageRequest } from '../pages';
import { nextWebhookNumber } from '../backups/restores';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';

/** A delivery with its attempts as the hosts show it. Instants are ISO 8601 texts in UTC. */
export interface StoredDelivery extends DeliveryKey {
  project_id: string;
  merchant_id: string;
  url: string;
  status: DeliveryStatus;
  created: string;
  next_attempt_at: string | null;
  /** The number of the first delivery of the same event. */
  redelivery_of: number | null;
  /** How far the clock of its order is ahead of real time, in milliseconds. */
  clock_offset_ms: number;
  attempts: {
    attempt: number;
    started: string;
    duration_ms: number;
    status_code: number | null;
    failure: string | null;
  }[];
}

const viewOf = (deliveries: string) => `
  select d.order_id, d.n, d.url, d.status, d.created, d.next_attempt_at, d.redelivery_of, d.project_id, p.merchant_id,
    ${CLOCK_OFFSET} as clock_offset_ms,
    coalesce((
      select json_agg(a order by a.attempt) from webhook_attempts a where a.order_id = d.order_id and a.n = d.n
    ), '[]'::json) as attempts
  from ${deliveries} join orders o on o.id = d.order_id join projects p on p.id = d.project_id`;
const VIEW = viewOf('webhook_deliveries d');

/** The delivery; `undefined` when there is none. */
export async function findStoredDelivery(
  db: Database,
  { order_id, n }: DeliveryKey,
): Promise<StoredDelivery | undefined> {
  return await queryRow<StoredDelivery>(db, `${VIEW} where d.order_id = :order_id and d.n = :n`, {
    order_id,
    n,
  });
}

/** The deliveries of an order, newest first: the first `limit`, or those with a number below `before`. */
export async function storedDeliveriesOf(
  db: Database,
  order_id: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<StoredDelivery[]> {
  const list = {
    select: VIEW,
    where: ['order_id = :order_id'],
    bindings: { order_id },
    key: [['n', 'integer']],
  } as const;
  const after = before === undefined ? undefined : [String(before)];
  return (await readPart<StoredDelivery>(db, list, { rows: limit }, after)).rows;
}

interface DeliveryFilter {
  merchant_id?: string | undefined;
  project_id?: string | undefined;
  order_id?: string | undefined;
  status?: DeliveryStatus | undefined;
  since?: string | undefined;
}

/** Of a merchant: the index of each of its projects gives a part; the orders of the merged part alone are looked up. */
const ofMerchant = (part: string) =>
  viewOf(`(
    select list.* from (select id from projects where merchant_id = :merchant_id) own
    cross join lateral (
      select * from (select * from webhook_deliveries where project_id = own.id) list ${part}
    ) list ${part}
  ) d`);

/** Deliveries, newest first. */
export async function listStoredDeliveries(
  db: Database,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<ListPage<StoredDelivery>> {
  return await readPage(db, page, {
    select: filter.merchant_id === undefined ? VIEW : ofMerchant,
    equal: { project_id: filter.project_id, order_id: filter.order_id, status: filter.status },
    where: [filter.since !== undefined && 'created >= :since'],
    bindings: { ...filter },
    key: [
      ['created', 'timestamptz'],
      ['order_id', 'uuid'],
      ['n', 'integer'],
    ],
  });
}

/** The webhooks of an order and its follow-up orders that have ended, the first by their last attempts. */
export async function endedDeliveriesOf(db: Database, order_id: string, limit: number): Promise<EndedDelivery[]> {
  return await queryRows<EndedDelivery>(
    db,
    `select order_id, n, (extract(epoch from max(a.started)) * 1000)::float8 as last_attempt_at
     from orders o join webhook_deliveries d on d.order_id = o.id join webhook_attempts a using (order_id, n)
     where (o.id = :order_id or o.related_order_id = :order_id) and d.next_attempt_at is null
     group by order_id, n order by last_attempt_at limit :limit`,
    { order_id, limit },
  );
}

interface WebhookProspects {
  next_delivery: number;
  first_delivery: number;
  has_webhook_address: boolean;
}

/**
 * The number of an order's next webhook and that of the first one of a new order, and whether there is an address to
 * which its next status change is sent.
 */
export async function webhookProspects(db: Database, order_id: string): Promise<WebhookProspects> {
  const prospects = await queryRow<WebhookProspects>(
    db,
    `select coalesce(o.webhook_url, p.webhook_url) is not null as has_webhook_address,
       ${nextWebhookNumber('o.id')} as next_delivery, ${nextWebhookNumber('null')} as first_delivery
     from orders o join projects p on p.id = o.project_id where o.id = :order_id`,
    { order_id },
  );
  return prospects ?? { next_delivery: 1, first_delivery: 1, has_webhook_address: false };
}

/** Locks the order until the end of the SQL transaction: none of its events and redeliveries is written meanwhile. */
export async function lockOrder(trx: SqlTransaction, order_id: string): Promise<void> {
  await queryRows(trx, 'select 1 from orders where id = :order_id for update', { order_id });
}

/**
 * A further delivery of the same event, due at once. The lock on the order numbers its deliveries once each, and
 * allows one redelivery of an event at a time. Throws Conflict while another one is open (rules 13.14).
 */
export async function insertRedelivery(
  trx: SqlTransaction,
  { order_id, n }: DeliveryKey,
  { now, request_id }: { now: Date; request_id: string },
): Promise<DeliveryKey> {
  await lockOrder(trx, order_id);
  const open = await queryRow<{ n: number; status: DeliveryStatus }>(
    trx,
    `select r.n, r.status from webhook_deliveries d
     join webhook_deliveries r on r.order_id = d.order_id and r.redelivery_of = coalesce(d.redelivery_of, d.n)
     where d.order_id = :order_id and d.n = :n and r.status = any(:open::text[])`,
    { order_id, n, open: OPEN_DELIVERY_STATUSES },
  );
  if (open !== undefined) {
    const state = open.status === 'paused' ? 'is paused' : 'has not ended';
    throw new ServiceError(
      'Conflict',
      `The redelivery ${formatDeliveryId({ order_id, n: open.n })} of the same event ${state}.`,
    );
  }
  const made = await queryRow<{ n: number }>(
    trx,
    `insert into webhook_deliveries (order_id, n, project_id, url, next_attempt_at, created, redelivery_of, request_id)
     select order_id, ${nextWebhookNumber(':order_id')}, project_id, url, :now, :now,
       coalesce(redelivery_of, n), :request_id
     from webhook_deliveries where order_id = :order_id and n = :n
     returning n`,
    { order_id, n, now, request_id },
  );
  // Its month may have been removed meanwhile (rules 29.8).
  if (made === undefined) throw new ServiceError('NotFound', 'There is no such webhook delivery.');
  return { order_id, n: made.n };
}
