import type { TimeSpan } from '../../domain/period';
import { OPEN_ORDER_STATUSES } from '../../domain/transitions';
import { toIsoTime } from '../../time';
import { queryColumn, queryRows, queryValue, sqlList, type Database } from '../query';
import { addSearchChanges } from '../search/search-outbox';

/** Removes what an auditor's files of a month hold (rules 29.8). The connection is that of the owner of the schema. */

/** The action of an export in the audit trail; its `read_from` is the instant from which the record was read. */
export const MONTH_EXPORTED = 'export.month';

/** In the audit trail: an export of the month of order `o`, later than the last change of the order. */
const IS_EXPORTED = `exists (
  select from audit_trail a
  where a.action = '${MONTH_EXPORTED}' and a.object_id = to_char(o.created at time zone 'UTC', 'YYYY-MM')
    and cast(a.after ->> 'read_from' as timestamptz) > o.modified)`;

/** Something about order `o` may still change, or an operator has to act on it. */
const IS_UNFINISHED = `(
  o.status in ${sqlList(OPEN_ORDER_STATUSES)} or o.attention is not null
  or exists (select from webhook_deliveries d where d.order_id = o.id and d.next_attempt_at is not null)
  or exists (select from announced_operations a where a.original_order_id = o.id)
  or exists (select from incidents i where i.order_id = o.id and i.closed_at is null)
  or exists (
    select from transactions t where t.order_id = o.id and (
      t.id in (select transaction_id from late_approval_watches)
      or t.id in (select transaction_id from open_settlements))))`;

/**
 * Removes the payment orders among `order_ids`, and those that the others follow, each with all orders that follow it,
 * their transactions, events and webhooks. Payment orders stay that have an order from after the month, that are not
 * exported as they are now, or about which something may still change. Returns how many orders were removed. Repeat-safe.
 * Throws when one of them changes at the same time.
 */
export async function removeOrders(db: Database, order_ids: readonly string[], { until }: TimeSpan): Promise<number> {
  return await db.transaction(
    async (trx) => {
      const payments = await queryColumn<string>(
        trx,
        `select p.id from orders p
         where p.id = any(array(select coalesce(related_order_id, id) from orders where id = any(:order_ids::uuid[])))
           and not exists (
             select from (
               select * from orders where id = p.id union all select * from orders where related_order_id = p.id
             ) o where o.created >= :until or not ${IS_EXPORTED} or ${IS_UNFINISHED})
         for update`,
        { order_ids, until: toIsoTime(until) },
      );
      const ids = await queryColumn<string>(
        trx,
        'select id from orders where id = any(:payments::uuid[]) or related_order_id = any(:payments::uuid[])',
        { payments },
      );
      for (const statement of DELETIONS) await queryRows(trx, statement, { ids });
      // The index removes what the record no longer has.
      await addSearchChanges(trx, ids);
      return ids.length;
    },
    // Postgres refuses it if one of the orders changed meanwhile.
    { isolationLevel: 'repeatable read' },
  );
}

const OF_ORDERS = 'any(:ids::uuid[])';
/** Each after the tables that refer to it. */
const DELETIONS = [
  ...['webhook_attempts', 'webhook_deliveries', 'search_refusals'].map(
    (table) => `delete from ${table} where order_id = ${OF_ORDERS}`,
  ),
  // A kept answer shows the order, and no erasure would find it.
  `update idempotency_keys set body = null where object_id = ${OF_ORDERS} and body is not null`,
  // The id of a webhook begins with that of its order.
  `delete from attentions
   where object_kind in ('order', 'webhook') and left(object_id, 36) = any(cast(:ids::uuid[] as text[]))`,
  `delete from transaction_events where transaction_id in (select id from transactions where order_id = ${OF_ORDERS})`,
  `delete from transactions where order_id = ${OF_ORDERS}`,
  `delete from orders where id = ${OF_ORDERS}`,
];

/** Entries that one SQL transaction removes. */
const ENTRIES = 10_000;

/**
 * Removes the entries of the audit trail of a month. Only the owner of the table can: its trigger, which refuses that to
 * everybody, is off within each SQL transaction. Yields how many each of these has removed.
 */
export async function* removeAuditEntries(db: Database, { since, until }: TimeSpan): AsyncGenerator<number> {
  for (;;) {
    const entries = await db.transaction(async (trx) => {
      await trx.raw('alter table audit_trail disable trigger audit_trail_keep');
      const rows = await queryRows(
        trx,
        `delete from audit_trail where n = any(array(
           select n from audit_trail where at >= :since and at < :until order by n limit ${ENTRIES}
         )) returning 1`,
        { since: toIsoTime(since), until: toIsoTime(until) },
      );
      await trx.raw('alter table audit_trail enable trigger audit_trail_keep');
      return rows.length;
    });
    yield entries;
    if (entries < ENTRIES) return;
  }
}

/** Whether the role of this connection owns the audit trail, itself or as a member. */
export async function ownsAuditTrail(db: Database): Promise<boolean> {
  return await queryValue<boolean>(
    db,
    `select pg_has_role(relowner, 'usage') as owns from pg_class where oid = cast('audit_trail' as regclass)`,
  );
}
