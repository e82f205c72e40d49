import { setTimeout as sleep } from 'node:timers/promises';
import { hasRows, queryColumn, queryRows, type Database } from '../db/query';
import { noteSearch } from '../db/search/search-outbox';

/** Milliseconds between two checks whether the index has every change. */
const CHECK_MS = 200;
/** Orders written at a time. */
const CHUNK = 50_000;
/** Over which they are spread. */
const QUARTER_SECONDS = 90 * 86_400;

/** Newest first, a quarter of a year. All figures follow from the number of the order. */
const FILL = `
with numbered as (
  select n, gen_random_uuid() as id, timestamptz '2026-03-31T23:59:59Z' - n * :step::float8 * interval '1 second' as created,
    case when n / 10 % 10 < 8 then 'completed' when n / 10 % 10 = 8 then 'error' else 'cancelled' end as status,
    100 + n * 7919 % 100000 as amount
  from generate_series(:from::bigint, :to::bigint) n
), o as (
  insert into orders (id, clock_id, project_id, kind, merchant_order_id, description, currency, amount, status, ended, ended_by,
    attempts_max, charged_by, expiration_period, expires_at, customer, version, created, modified, completed)
  select id, id, case when n % 10 < 6 then :project::uuid else :other::uuid end, 'payment', 'B-' || n,
    (array['Two blue books', 'A red shirt', 'Tickets for two', 'Blue shoes', 'Books and maps', 'One lamp', 'Garden chairs'])[1 + n % 7],
    'EUR', amount, status, case when status = 'cancelled' then 'cancelled' end,
    case when status = 'cancelled' then 'customer' end, 5, 'customer', 'PT30M', created + interval '30 minutes',
    json_build_object('merchant_customer_id', 'C-' || n % 50000, 'last_name', 'Name' || n % 20000,
      'email_address', 'c' || n % 50000 || '@shop.example', 'country', (array['NL', 'DE', 'FR', 'US'])[1 + n % 4]),
    2, created, created, case when status = 'completed' then created end
  from numbered
), t as (
  insert into transactions (id, order_id, attempt, amount, currency, payment_method, payment_method_brand, payment_method_details,
    method_chosen_by, credit_debit, status, captured_amount, response_code, created, modified)
  select gen_random_uuid(), id, 1, amount, 'EUR', case when n % 4 = 0 then 'apple-pay' else 'credit-card' end,
    case when n % 3 = 0 then 'mastercard' else 'visa' end, '{"truncated_pan": "411111******1111", "card_expiry": "122034"}',
    'customer', 'credit', case status when 'completed' then 'accepted' else status end, case status when 'completed' then amount else 0 end,
    case status when 'completed' then '00' when 'error' then '05' end, created, created
  from numbered
  returning id, status, created
)
insert into transaction_events (transaction_id, n, event, source, result, occurred, noticed)
select id, 1, status, 'processor', case status when 'accepted' then 'approved' when 'error' then 'declined' end, created, created from t`;

/**
 * Writes orders of one transaction each, six of ten in the first project; they are not in the search index then.
 * Returns the ids of at most 50,000 orders of that project.
 */
export async function writeBenchOrders(
  db: Database,
  count: number,
  [project, other]: readonly [string, string],
): Promise<string[]> {
  for (let from = 1; from <= count; from += CHUNK) {
    await db.transaction(async (trx) => {
      // So many rows take longer than a statement of the service may (rules 24.2).
      await queryRows(trx, 'set local statement_timeout = 0');
      // Without triggers: a rebuild of the index is quicker than an outbox of all orders.
      await queryRows(trx, 'set local session_replication_role = replica');
      const to = Math.min(from + CHUNK - 1, count);
      await queryRows(trx, FILL, { from, to, step: QUARTER_SECONDS / count, project, other });
      if (to === count) await queryRows(trx, 'analyze');
    });
  }
  const ids = 'select id from orders where project_id = :project order by id limit :limit';
  return await queryColumn<string>(db, ids, { project, limit: CHUNK });
}

/** Changes orders; one of them gets a new reference to search for. */
export async function changeOrders(
  db: Database,
  order_ids: readonly string[],
  reference?: { order_id: string; merchant_order_id: string },
): Promise<void> {
  await queryRows(
    db,
    `update orders set version = version + 1, modified = now(),
       merchant_order_id = case when id = :order_id::uuid then :merchant_order_id else merchant_order_id end
     where id = any(:order_ids::uuid[])`,
    { order_ids, order_id: reference?.order_id ?? null, merchant_order_id: reference?.merchant_order_id ?? null },
  );
}

/** Changes that wait for the index, and whether a rebuild is under way. */
export async function isIndexBehind(db: Database): Promise<boolean> {
  return await hasRows(
    db,
    'select 1 from (select 1 from search_outbox union all select 1 from search_rebuild) waiting limit 1',
  );
}

/** Makes the indexer write every change now; resolves when the index has them. */
export async function untilIndexed(db: Database): Promise<void> {
  while (await isIndexBehind(db)) {
    await noteSearch(db);
    await sleep(CHECK_MS);
  }
}

/** As if there were no search: no change is noted, and the worker's indexer is not given the lease. */
export async function stopIndexing(db: Database): Promise<void> {
  await queryRows(db, 'alter table orders disable trigger user');
  await queryRows(
    db,
    `insert into leases (name, holder, expires_at) values ('search indexer', 'bench', clock_timestamp() + interval '1 hour')
     on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at`,
  );
}

/** The worker's indexer takes the lease within seconds. */
export async function continueIndexing(db: Database): Promise<void> {
  await queryRows(db, 'alter table orders enable trigger user');
  await queryRows(db, `delete from leases where holder = 'bench'`);
}
