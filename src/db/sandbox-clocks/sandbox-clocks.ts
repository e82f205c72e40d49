import { MAX_DURATION, parseDuration } from '../../domain/duration';
import type { BegunAdvance, ClockAdvance, StartedClock } from '../../domain/sandbox-clock';
import { ServiceError, preconditionFailed } from '../../errors';
import { toIsoTime } from '../../time';
import { hasRows, nextVersionSql, queryRow, queryRows, queryValue, type Database, type SqlTransaction } from '../query';

/**
 * How far the clock of an object is ahead of real time, in milliseconds, as a column. `object` and `id` name both in
 * SQL. Only a clock of the object's own project counts, which is a test project.
 */
export const clockOffset = (object: string, id = 'clock_id') => `coalesce((
  select c.offset_ms from sandbox_clocks c where c.id = ${object}.${id} and c.project_id = ${object}.project_id), 0)`;
/** The clock of an order `o`, and of a payment link `l`. */
export const CLOCK_OFFSET = clockOffset('o');
export const LINK_CLOCK_OFFSET = clockOffset('l', 'id');

/** A query for the ids of the orders that use a clock; `id` names the clock in SQL. */
export const ordersOfClock = (id: string) => `(
  select p.id from orders p where p.id = ${id}
  union all select p.id from orders p where p.related_payment_link_id = ${id}
  union all select f.id from orders f where f.related_order_id = ${id}
  union all select f.id from orders p join orders f on f.related_order_id = p.id where p.related_payment_link_id = ${id}
)`;

/** How far a clock can be advanced in all (rules 23.5). Milliseconds. */
const LONGEST_MS = parseDuration(MAX_DURATION.sandbox_clock);

/**
 * Writes the beginning of an advance; `now` is real time. Repeat-safe: a request begins one advance. Returns undefined
 * when the clock would not go ahead, or more than LONGEST_MS in all. Throws Forbidden when the project is live, or has
 * no order or payment link with its own clock by this id; PreconditionFailed when that is at none of `versions`.
 */
export async function beginAdvance(
  db: Database,
  { clock_id, project_id }: StartedClock,
  {
    request_id,
    advance,
    versions,
    now,
  }: { request_id: string; advance: ClockAdvance; versions?: readonly number[] | undefined; now: number },
): Promise<BegunAdvance | undefined> {
  return await db.transaction(async (trx) => {
    await queryRows(
      trx,
      `insert into sandbox_clocks (id, project_id, modified)
       select :clock_id::uuid, p.id, :now::timestamptz from projects p
       where p.id = :project_id and p.is_test and (
         exists (select 1 from orders o where o.id = :clock_id and o.clock_id = o.id and o.project_id = p.id)
         or exists (select 1 from payment_links l where l.id = :clock_id and l.project_id = p.id))
       on conflict do nothing`,
      { clock_id, project_id, now: toIsoTime(now) },
    );
    const clock = await queryRow<{ offset_ms: number }>(
      trx,
      'select offset_ms from sandbox_clocks where id = :clock_id and project_id = :project_id for update',
      { clock_id, project_id },
    );
    if (clock === undefined) throw new ServiceError('Forbidden', 'Only the clocks of test projects can be advanced.');
    const advances = await queryRows<BegunAdvance & { request_id: string }>(
      trx,
      `select n, request_id, to_offset_ms from sandbox_clock_advances
       where clock_id = :clock_id and (request_id = :request_id
         or n = (select max(n) from sandbox_clock_advances where clock_id = :clock_id))
       order by n`,
      { clock_id, request_id },
    );
    const begun = advances.find((one) => one.request_id === request_id);
    if (begun !== undefined) return { n: begun.n, to_offset_ms: begun.to_offset_ms };
    if (versions?.includes(await lockOwner(trx, clock_id)) === false) throw preconditionFailed();
    const from_offset_ms = clock.offset_ms;
    const to_offset_ms = advance.to === undefined ? from_offset_ms + advance.advance_ms : advance.to - now;
    if (to_offset_ms <= from_offset_ms || to_offset_ms > LONGEST_MS) return undefined;
    const n = (advances.at(-1)?.n ?? 0) + 1;
    await queryRows(
      trx,
      // With If-Match the beginning makes a version, too: of several changes of one version, one succeeds.
      `with a as (
         insert into sandbox_clock_advances (clock_id, n, request_id, from_offset_ms, to_offset_ms, started)
         values (:clock_id, :n, :request_id, :from_offset_ms, :to_offset_ms, :started)
       ), ${newVersionIf(':is_conditional')} select 1`,
      {
        clock_id,
        n,
        request_id,
        from_offset_ms,
        to_offset_ms,
        started: toIsoTime(now + from_offset_ms),
        is_conditional: versions !== undefined,
      },
    );
    return { n, to_offset_ms };
  });
}

/** Whether the advance of a request has begun: it can no longer be refused. */
export async function isAdvanceBegun(db: Database, asked: { clock_id: string; request_id: string }): Promise<boolean> {
  return await hasRows(
    db,
    'select 1 from sandbox_clock_advances where clock_id = :clock_id and request_id = :request_id',
    asked,
  );
}

/** Locks the order or payment link that a clock belongs to until the end of the SQL transaction. Returns its version. */
async function lockOwner(trx: SqlTransaction, clock_id: string): Promise<number> {
  return await queryValue<number>(
    trx,
    `with o as (select version from orders where id = :clock_id for update),
       l as (select version from payment_links where id = :clock_id for update)
     select version from o union all select version from l`,
    { clock_id },
  );
}

/** Parts of a statement that make a new version of the order or payment link that a clock belongs to. */
const newVersionIf = (condition: string) => `
  o as (update orders set ${nextVersionSql('orders', 'orders.modified')} where id = :clock_id and ${condition}),
  l as (update payment_links set ${nextVersionSql('payment_links', 'payment_links.modified')} where id = :clock_id and ${condition})`;

/** The unfinished advances, in their order. */
export async function unfinishedAdvances(db: Database, clock_id: string): Promise<BegunAdvance[]> {
  return await queryRows<BegunAdvance>(
    db,
    'select n, to_offset_ms from sandbox_clock_advances where clock_id = :clock_id and not is_finished order by n',
    { clock_id },
  );
}

/** Advances a clock. It never goes back; without a change the row is not written. `now` is real time. */
export async function setClock(
  db: Database,
  { clock_id, offset_ms, now }: { clock_id: string; offset_ms: number; now: number },
): Promise<void> {
  await queryRows(
    db,
    `update sandbox_clocks set offset_ms = :offset_ms, modified = :now where id = :clock_id and offset_ms < :offset_ms::bigint`,
    { clock_id, offset_ms, now: toIsoTime(now) },
  );
}

/** Finishes an advance: all due actions are done. The object shows another time, so it gets a new version. */
export async function finishAdvance(db: Database, { clock_id, n }: { clock_id: string; n: number }): Promise<void> {
  await queryRows(
    db,
    `with a as (
       update sandbox_clock_advances set is_finished = true where clock_id = :clock_id and n = :n and not is_finished returning 1
     ), ${newVersionIf('exists (select 1 from a)')} select 1`,
    { clock_id, n },
  );
}
