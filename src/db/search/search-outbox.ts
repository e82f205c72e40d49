import { SEARCH_PACE, type IndexDelay } from '../../domain/search-pace';
import { toIsoTime } from '../../time';
import { queryColumn, queryRow, queryRows, requireRow, type Database } from '../query';
import { allParts, readPart } from '../pages';

/** A change of an order that the index has not seen. */
export interface SearchChange {
  id: number;
  order_id: string;
  /** How long ago it was made, in milliseconds, if searches were recent then: it was due at once. */
  age_ms?: number | null;
}

/** An order that the index refused. */
export interface SearchRefusal {
  order_id: string;
  reason: string;
}

const MS = `interval '1 millisecond'`;
const OLDEST_CHANGE = '(select changed from search_outbox order by id limit 1)';

/** The oldest changes, at most `limit`. */
export async function searchChanges(db: Database, limit: number): Promise<SearchChange[]> {
  return await queryRows<SearchChange>(db, 'select id, order_id from search_outbox order by id limit :limit', {
    limit,
  });
}

/** Like `searchChanges`, but none while changes are batched because no search is recent. */
export async function dueSearchChanges(db: Database, limit: number): Promise<SearchChange[]> {
  return await queryRows<SearchChange>(
    db,
    `select id, order_id, case when exists (
         select 1 from search_use where last > clock_timestamp() - :recent * ${MS} and since <= changed
       ) then extract(epoch from clock_timestamp() - changed)::float8 * 1000 end as age_ms
     from search_outbox
     where (select last > clock_timestamp() - :recent * ${MS} from search_use)
       or ${OLDEST_CHANGE} < clock_timestamp() - :gathered * ${MS}
     order by id limit :limit`,
    { limit, recent: SEARCH_PACE.recent_ms, gathered: SEARCH_PACE.gathered_ms },
  );
}

/** Records a search, and returns how far the index is behind. */
export async function noteSearch(db: Database): Promise<IndexDelay> {
  return await requireRow<IndexDelay>(
    db,
    `with noted as (
       update search_use
       set since = case when last > clock_timestamp() - :recent * ${MS} then since else clock_timestamp() end,
         last = clock_timestamp()
       returning since
     )
     select coalesce(since > clock_timestamp() - :waits * ${MS} and ${OLDEST_CHANGE} < since, false) as is_behind,
       coalesce(extract(epoch from clock_timestamp() - ${OLDEST_CHANGE})::float8 * 1000, 0) as oldest_ms
     from noted`,
    { recent: SEARCH_PACE.recent_ms, waits: SEARCH_PACE.first_searches_wait_ms },
  );
}

/**
 * Removes changes that the index has seen, and records the orders that it refused. Deletes the refusals of orders that
 * it accepted. `now` in epoch milliseconds.
 */
export async function finishSearchChanges(
  db: Database,
  changes: readonly SearchChange[],
  refusals: readonly SearchRefusal[],
  now: number,
): Promise<void> {
  const refused = new Set(refusals.map(({ order_id }) => order_id));
  await queryRows(
    db,
    `with seen as (
       delete from search_outbox where id = any(:ids::bigint[])
     ), taken as (
       delete from search_refusals where order_id = any(:taken::uuid[])
     )
     insert into search_refusals (order_id, reason, refused)
     select order_id, reason, :now from json_populate_recordset(null::search_refusals, :refusals::json)
     on conflict (order_id) do update set reason = excluded.reason, refused = excluded.refused`,
    {
      ids: changes.map(({ id }) => id),
      taken: changes.map(({ order_id }) => order_id).filter((order_id) => !refused.has(order_id)),
      refusals: JSON.stringify(refusals),
      now: toIsoTime(now),
    },
  );
}

/** Has orders written to the index again. */
export async function addSearchChanges(db: Database, order_ids: readonly string[]): Promise<void> {
  await queryRows(db, 'insert into search_outbox (order_id) select unnest(:order_ids::uuid[])', { order_ids });
}

/** Which of the orders wait to be written to the index. */
export async function waitingForSearch(db: Database, order_ids: readonly string[]): Promise<string[]> {
  return await queryColumn<string>(
    db,
    'select distinct order_id from search_outbox where order_id = any(:order_ids::uuid[])',
    { order_ids },
  );
}

/** How many orders the index has refused. */
export async function countSearchRefusals(db: Database): Promise<number> {
  const row = await queryRow<{ count: number }>(db, 'select count(*) as count from search_refusals');
  return row?.count ?? 0;
}

/** The orders of a project that the index has refused. */
export async function refusedOrders(db: Database, project_id: string): Promise<string[]> {
  return await queryColumn<string>(
    db,
    `select order_id from search_refusals r join orders o on o.id = r.order_id
     where o.project_id = :project_id order by order_id`,
    { project_id },
  );
}

/** The ids of all orders, sorted, page by page; may miss an order that is added meanwhile. */
export async function* allOrderIds(db: Database, size: number): AsyncGenerator<string[]> {
  const list = { select: 'select id from orders', bindings: {}, key: [['id', 'uuid']], direction: 'asc' } as const;
  const parts = allParts((after) => readPart<{ id: string }>(db, list, { rows: size }, after));
  for await (const rows of parts) yield rows.map(({ id }) => id);
}

/** Which of the ids are orders. */
export async function existingOrders(db: Database, order_ids: readonly string[]): Promise<string[]> {
  return await queryColumn<string>(db, 'select id from orders where id = any(:order_ids::uuid[])', {
    order_ids,
  });
}

/** A requested rebuild of the index that has not ended. */
export interface SearchRebuild {
  /** Orders written to the new index so far; null until it has begun. */
  orders: number | null;
}

/** Requests a rebuild from the indexer. Repeat-safe: a running rebuild continues. `now` in epoch milliseconds. */
export async function requestSearchRebuild(db: Database, now: number): Promise<void> {
  await queryRows(db, 'insert into search_rebuild (requested) values (:now) on conflict do nothing', {
    now: toIsoTime(now),
  });
}

/** The requested rebuild; `undefined` when there is none. */
export async function searchRebuild(db: Database): Promise<SearchRebuild | undefined> {
  return await queryRow<SearchRebuild>(db, 'select orders from search_rebuild');
}

/** Records how many orders the new index has. */
export async function noteSearchRebuild(db: Database, orders: number): Promise<void> {
  await queryRows(db, 'update search_rebuild set orders = :orders', { orders });
}

/**
 * The rebuild has ended. The new index took every order again: what the one before refused, before the rebuild `began`
 * (epoch milliseconds), is refused no more.
 */
export async function endSearchRebuild(db: Database, began: number): Promise<void> {
  await queryRows(
    db,
    'with refused as (delete from search_refusals where refused < :began) delete from search_rebuild',
    { began: toIsoTime(began) },
  );
}
