import { REASON_SEPARATOR } from '../../domain/attention';
import { OPEN_ORDER_STATUSES } from '../../domain/transitions';
import { toIsoTime } from '../../time';
import { hasRows, nextVersionSql, queryRows, type Database } from '../query';

/** Fields of an order that a merchant may change: absent ones stay, null clears, others are replaced as a whole. */
export interface OrderChanges {
  merchant_order_id?: string | null | undefined;
  description?: string | null | undefined;
  return_url?: string | null | undefined;
  failure_url?: string | null | undefined;
  webhook_url?: string | null | undefined;
  customer?: unknown;
  extra?: unknown;
}

/**
 * Changes fields of an order that is not final, at one of `versions` when given. Returns whether it did.
 *
 * The order's workflow is not involved, as it holds none of these fields. The version grows so that readers notice; a
 * move or payment attempt planned from the version before is refused by its own guard, reads the order and is planned
 * again (moveOrder, beginAttempt).
 */
export async function recordOrderUpdate(
  db: Database,
  order_id: string,
  changes: OrderChanges,
  { versions, now }: { versions: readonly number[] | undefined; now: number },
): Promise<boolean> {
  return await hasRows(
    db,
    `update orders set
       (merchant_order_id, description, return_url, failure_url, webhook_url, customer, extra) = (
         select merchant_order_id, description, return_url, failure_url, webhook_url, customer, extra
         -- Fields that are absent in the JSON are those of the row.
         from json_populate_record(orders, :changes::json)
       ),
       ${nextVersionSql('orders')}
     where id = :order_id and status = any(:open::text[])
       and (:versions::int[] is null or version = any(:versions::int[]))
     returning id`,
    {
      order_id,
      changes: JSON.stringify(changes),
      open: OPEN_ORDER_STATUSES,
      versions: versions ?? null,
      now: toIsoTime(now),
    },
  );
}

/** Writes the attention of the `changed` orders to the table of attentions, and ends what it replaces. */
const SHOW_CHANGED_ATTENTION = `ended as (
  update attentions a set until = clock_timestamp() from changed
  where object_kind = 'order' and object_id = changed.id::text and until is null
    and reason is distinct from changed.attention
)
insert into attentions (object_kind, object_id, project_id, reason)
select 'order', id::text, project_id, attention from changed where attention is not null
on conflict do nothing`;

/**
 * Adds a reason to the order's attention, unless it says so already, also in the table of attentions: what nobody has
 * dealt with stays. Merchants do not see it, so the version stays.
 */
export async function addAttention(db: Database, order_id: string, attention: string): Promise<void> {
  await queryRows(
    db,
    `with changed as (
       update orders set attention = case
           when attention is null then :attention
           when position(:attention in attention) > 0 then attention
           else attention || :separator || :attention
         end
       where id = :order_id returning id, project_id, attention
     ), ${SHOW_CHANGED_ATTENTION}`,
    { order_id, attention, separator: REASON_SEPARATOR },
  );
}

/** Ends this reason of an order's attention; others stay. */
export async function endAttention(db: Database, order_id: string, attention: string): Promise<void> {
  await queryRows(
    db,
    `with changed as (
       update orders set
         attention = nullif(array_to_string(array_remove(string_to_array(attention, :separator), :attention), :separator), '')
       where id = :order_id and position(:attention in attention) > 0 returning id, project_id, attention
     ), ${SHOW_CHANGED_ATTENTION}`,
    { order_id, attention, separator: REASON_SEPARATOR },
  );
}
