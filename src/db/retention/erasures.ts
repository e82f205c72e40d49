import { createHash } from 'node:crypto';
import type { ErasureField } from '../../domain/retention';
import type { OrderKind } from '../../domain/follow-up';
import { withoutCase } from '../../domain/query/text';
import { OPEN_ORDER_STATUSES } from '../../domain/transitions';
import { ServiceError } from '../../errors';
import { toIsoTime } from '../../time';
import {
  hasRows,
  newModifiedSql,
  nextVersionSql,
  queryRow,
  queryRows,
  sqlList,
  type Database,
  type SqlTransaction,
} from '../query';
import {
  BY_CREATED,
  BY_SEQUENCE,
  keyset,
  readPage,
  type ListPage,
  type PagePosition,
  type PageRequest,
} from '../pages';
import { RESERVED } from '../orders/transactions';
import { findProject, lockProject } from '../projects/projects';

/** An erasure of the personal data of a customer (rules 29.3). Instants are ISO 8601 texts in UTC. */
export interface StoredErasure {
  id: string;
  project_id: string;
  merchant_id: string;
  /** `order_id:` and the payment order, or the name of another field and a hash of its value. */
  subject: string;
  /** The order up to which those of the project were looked at. */
  position: PagePosition | null;
  /** Payment orders that were erased so far. */
  orders: number;
  created: string;
  modified: string;
  completed: string | null;
}

/**
 * What names the customer of an erasure in the record: the payment order, or a hash of another field, with the project's
 * secret namespace as salt. Letters of email addresses are compared without case; other fields as they are. Not in SQL:
 * whether Postgres knows the letters of all scripts depends on the locale of the database.
 */
function subjectOf(id_namespace: string, { field, value }: { field: string; value: string }): string {
  if (field === 'order_id') return `${field}:${value}`;
  const compared = field === 'email_address' ? withoutCase(value) : value;
  return `${field}:${createHash('sha256').update(`${id_namespace}:${compared}`).digest('hex')}`;
}

const VIEW = `select e.id, e.project_id, p.merchant_id, e.subject, e.position, e.orders, e.created, e.modified, e.completed
  from erasures e join projects p on p.id = e.project_id`;

/** The erasure; `undefined` when there is none. */
export async function findErasure(db: Database, id: string): Promise<StoredErasure | undefined> {
  return await queryRow<StoredErasure>(db, `${VIEW} where e.id = :id`, { id });
}

/** Erasures, newest first. */
export async function listErasures(
  db: Database,
  filter: { merchant_id?: string | undefined; project_id?: string | undefined },
  page: PageRequest,
): Promise<ListPage<StoredErasure>> {
  return await readPage(db, page, { select: VIEW, equal: filter, key: BY_CREATED });
}

/** Erasures of one project that may run at the same time: each reads all of its orders. */
export const ERASURES_MAX = 100;

/**
 * Writes a requested erasure; of the customer's field only a hash. Returns it. Throws Conflict while ERASURES_MAX of the
 * project run.
 */
export async function insertErasure(
  trx: SqlTransaction,
  { id, project_id, ...named }: { id: string; project_id: string; field: ErasureField; value: string },
  now: Date,
): Promise<StoredErasure> {
  // The next count includes this one.
  await lockProject(trx, project_id);
  const running = await queryRows(trx, 'select 1 from erasures where project_id = :project_id and completed is null', {
    project_id,
  });
  if (running.length >= ERASURES_MAX) {
    throw new ServiceError(
      'Conflict',
      `${ERASURES_MAX} erasures of the project run. Send this one with a new Idempotency-Key once some are completed.`,
    );
  }
  const { id_namespace } = (await findProject(trx, project_id))!;
  return await ensureErasure(trx, { id, project_id, subject: subjectOf(id_namespace, named) }, now.getTime());
}

/**
 * Writes an erasure whose row is missing after a restore of the record, so that it is carried out again. Repeat-safe:
 * an existing one stays. Returns it.
 */
export async function ensureErasure(
  db: Database,
  { id, project_id, subject }: Pick<StoredErasure, 'id' | 'project_id' | 'subject'>,
  now: number,
): Promise<StoredErasure> {
  const found = await findErasure(db, id);
  if (found !== undefined) return found;
  await queryRows(
    db,
    `insert into erasures (id, project_id, subject, created, modified) values (:id, :project_id, :subject, :now, :now)
     on conflict do nothing`,
    { id, project_id, subject, now: toIsoTime(now) },
  );
  return (await findErasure(db, id))!;
}

/**
 * Has an erasure look at all orders of its project again, unless it was completed before an instant: orders of the
 * customer that came later stay. Epoch milliseconds.
 */
export async function reopenErasure(
  db: Database,
  id: string,
  { completed_before, now }: { completed_before: number; now: number },
): Promise<void> {
  await queryRows(
    db,
    `update erasures set position = null, completed = null, ${newModifiedSql('erasures')}
     where id = :id and (completed is null or completed >= :completed_before)`,
    { id, completed_before: toIsoTime(completed_before), now: toIsoTime(now) },
  );
}

/** Orders of a project that one statement looks at. */
const PAGE = 1_000;

/** Payment orders of the customer among the next orders of the project. */
export interface ErasurePage {
  order_ids: string[];
  /** The last order that was looked at; null: there are no more. */
  position: PagePosition | null;
}

/** The next payment orders to erase. */
export async function nextToErase(db: Database, erasure: StoredErasure): Promise<ErasurePage> {
  const { project_id, subject } = erasure;
  const [field = '', id = ''] = subject.split(':');
  if (field === 'order_id') return { order_ids: [id], position: null };
  const after = keyset(BY_SEQUENCE, 'asc', erasure.position ?? undefined);
  const { id_namespace } = (await findProject(db, project_id))!;
  const orders = await queryRows<{ id: string; value: string | null; position: PagePosition }>(
    db,
    // A merchant may have written the customer to an order that follows, whose payment then goes too unless it names
    // another one.
    `select case when (select customer ->> :field from orders p where p.id = o.related_order_id) is null
         then coalesce(related_order_id, id) else id end as id,
       customer ->> :field as value, ${after.position} as position
     from orders o where project_id = :project_id and ${after.isAfter ?? 'true'}
     order by ${after.order} limit ${PAGE}`,
    { project_id, field, ...after.bindings },
  );
  const named = orders.filter(({ value }) => value !== null && subjectOf(id_namespace, { field, value }) === subject);
  return {
    order_ids: [...new Set(named.map((order) => order.id))],
    position: orders.length < PAGE ? null : orders.at(-1)!.position,
  };
}

/**
 * Notes how far an erasure is; `position` null: it is completed. `false`: it changed since it was read, and nothing was
 * noted.
 */
export async function noteErased(
  db: Database,
  { id, modified }: Pick<StoredErasure, 'id' | 'modified'>,
  { position }: Pick<ErasurePage, 'position'>,
  now: number,
): Promise<boolean> {
  return await hasRows(
    db,
    `update erasures set position = coalesce(:position::json, position), ${newModifiedSql('erasures')},
       completed = case when :position::json is null then greatest(created, :now::timestamptz) end
     where id = :id and completed is null and modified = :modified
     returning 1`,
    { id, modified, position: position && JSON.stringify(position), now: toIsoTime(now) },
  );
}

/** An order whose personal data is to be erased: a payment order or one that follows it. */
export interface OrderToErase {
  id: string;
  project_id: string;
  kind: OrderKind;
  /** It has no final status, or holds reserved money. */
  is_open: boolean;
  related_payment_link_id: string | null;
}

/** The payment order and the orders that follow it, first the payment order. */
export async function ordersToErase(
  db: Database,
  { project_id }: Pick<StoredErasure, 'project_id'>,
  order_id: string,
): Promise<OrderToErase[]> {
  return await queryRows<OrderToErase>(
    db,
    `select id, project_id, kind, related_payment_link_id, status in ${sqlList(OPEN_ORDER_STATUSES)}
       or exists (select 1 from transactions t where t.order_id = o.id and ${RESERVED}) as is_open from orders o
     where (id = :order_id or related_order_id = :order_id) and project_id = :project_id
     order by related_order_id is not null, created, id`,
    { project_id, order_id },
  );
}

/** Fields of a payment method that name no person: the masked number, and what payments need. */
const KEPT_DETAILS = [
  'truncated_pan',
  'card_expiry',
  'vault_token',
  'liability_shift',
  'receiver_account_number',
  'receiver_account_number_type',
];

/**
 * Erases the personal data of a payment order and the orders that follow it in the record (rules 29.4), of the payment
 * link that it pays, and of the answers kept about them. Amounts, ids, statuses and events stay. Returns `false`, and
 * erases nothing, when an order that is not among `orders` follows it: once erased, the payment order no longer names
 * the customer, so that order would not be found again. Repeat-safe.
 */
export async function eraseOrders(
  db: Database,
  erasure_id: string,
  orders: readonly OrderToErase[],
  now: number,
): Promise<boolean> {
  const link_ids = orders.flatMap(({ related_payment_link_id: id }) => (id === null ? [] : [id]));
  const order_ids = orders.map(({ id }) => id);
  const bindings = { order_ids, link_ids, now: toIsoTime(now) };
  return await db.transaction(async (trx) => {
    // A follow-up order is written while its payment order is locked (insertFollowUp). The next statement sees it.
    await queryRows(
      trx,
      `select 1 from orders where id = any(:order_ids::uuid[]) and kind = 'payment' for update`,
      bindings,
    );
    const others = await queryRows(
      trx,
      `select 1 from orders
       where related_order_id = any(:order_ids::uuid[]) and id <> all(:order_ids::uuid[]) limit 1`,
      bindings,
    );
    if (others.length > 0) return false;
    await queryRows(
      trx,
      `update orders set customer = null, order_lines = null, extra = null, description = null, ${nextVersionSql('orders')}
       where id = any(:order_ids::uuid[])`,
      bindings,
    );
    await queryRows(
      trx,
      `update transactions set payment_method_details = (
         select json_object_agg(key, value) from json_each(payment_method_details) where key = any(:kept::text[]))
       where order_id = any(:order_ids::uuid[]) and payment_method_details is not null`,
      { ...bindings, kept: KEPT_DETAILS },
    );
    await queryRows(
      trx,
      `update payment_links set description = null, ${nextVersionSql('payment_links')} where id = any(:link_ids::uuid[])`,
      bindings,
    );
    await queryRows(
      trx,
      `update idempotency_keys set body = null
       where object_id = any(:order_ids::uuid[] || :link_ids::uuid[]) and body is not null`,
      bindings,
    );
    // The index may have repeated a value in its reason. The change of the order has it written again.
    await queryRows(trx, 'delete from search_refusals where order_id = any(:order_ids::uuid[])', bindings);
    // An order that is named by its id is found again after a crash.
    await queryRows(
      trx,
      `update erasures set orders = case when subject like 'order_id:%' then 1 else orders + :payments end where id = :erasure_id`,
      { erasure_id, payments: orders.filter(({ kind }) => kind === 'payment').length },
    );
    return true;
  });
}
