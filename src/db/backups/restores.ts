import { OPEN_ORDER_STATUSES, OPEN_PAYMENT_LINK_STATUSES, UNPAID_ATTEMPT_STATUSES } from '../../domain/transitions';
import { ServiceError } from '../../errors';
import { toIsoTime } from '../../time';
import {
  hasRows,
  nextVersionSql,
  queryRow,
  queryRows,
  readWithin,
  sqlList,
  type Database,
  type SqlTransaction,
} from '../query';
import { MAY_BE_CHARGED, RESERVED } from '../orders/transactions';
import { CLOCK_OFFSET, LINK_CLOCK_OFFSET, ordersOfClock } from '../sandbox-clocks/sandbox-clocks';

/** What could not be written again, for a person (rules 28.5). */
export interface OpenItem {
  /** For example `order:018f…`. */
  object: string;
  reason: string;
  /** The reconciliation ended it again: a repeated one does not find it any more. */
  is_ended_again?: true;
}

/** A restore of the record from a backup. Instants are ISO 8601 texts in UTC. */
export interface Restore {
  id: string;
  began: string;
  /** All that is newer than this may be missing in the record. */
  since: string;
  /** When it was last reconciled, how many objects were written again in all, and what that left open. */
  reconciled: string | null;
  rewritten: number;
  open_items: OpenItem[];
}

const COLUMNS = 'id, began, since, reconciled, rewritten, open_items';

/** The restore that is under way; while there is one, nothing new is accepted (rules 28.1). */
export async function openRestore(db: Database): Promise<Restore | undefined> {
  return await queryRow<Restore>(db, `select ${COLUMNS} from restores where ended is null`);
}

/** The newest restore, if the record was ever restored, and whether it is under way. */
export async function newestRestore(
  db: Database,
): Promise<{ id: string; began: string; is_open: boolean } | undefined> {
  return await queryRow<{ id: string; began: string; is_open: boolean }>(
    db,
    'select id, began, ended is null as is_open from restores order by ended is null desc, began desc limit 1',
  );
}

/**
 * Whether the record was restored and not yet reconciled. What is open in it may have ended since the backup, so it may
 * neither be asked about nor sent again (rules 28.1).
 */
export async function awaitsReconciliation(db: Database): Promise<boolean> {
  return (await openRestore(db))?.reconciled === null;
}

/** Throws Conflict while a restored record has to be reconciled first. */
export async function requireReconciled(db: Database): Promise<void> {
  if (!(await awaitsReconciliation(db))) return;
  throw new ServiceError('Conflict', 'The record was restored from a backup: run restore reconcile first.');
}

/**
 * Whether erasures wait, as a restored record is still to be compared with the histories that they delete (rules 29.6).
 */
export async function mustErasuresWait(db: Database): Promise<boolean> {
  const restore = await queryRow<{ erasures_wait: boolean }>(
    db,
    'select erasures_wait from restores where ended is null',
  );
  return restore?.erasures_wait === true;
}

/** Has erasures wait from the start of a reconciliation until it could read and write everything. */
export async function holdErasures(db: Database, erasures_wait: boolean): Promise<void> {
  await queryRows(db, 'update restores set erasures_wait = :erasures_wait where ended is null', { erasures_wait });
}

/**
 * The instant of the newest change in the record, epoch milliseconds; undefined in an empty one. Objects whose sandbox
 * clock is ahead are left out: their instants are not of real time.
 */
export async function newestChange(db: Database): Promise<number | undefined> {
  const newestOf = (table: string, clock: string) =>
    `(select max(o.modified) from ${table} o
      where not exists (select from sandbox_clocks c where c.id = o.${clock} and c.offset_ms > 0))`;
  const [row] = await readWithin(db, 0, (trx) =>
    queryRows<{ newest: string | null }>(
      trx,
      `select greatest(${newestOf('orders', 'clock_id')}, ${newestOf('payment_links', 'id')}) as newest`,
    ),
  );
  return row?.newest == null ? undefined : Date.parse(row.newest);
}

/**
 * Begins a restore. One that is under way begins anew, from the earlier of both instants: the backup was made during it,
 * and nothing that it has reconciled since is in the record (rules 28.2).
 */
export async function beginRestore(trx: SqlTransaction, id: string, since: number, now: Date): Promise<Restore> {
  await queryRows(
    trx,
    `insert into restores (id, began, since) values (:id, :now, :since)
     on conflict ((true)) where ended is null do update set began = greatest(restores.began, excluded.began),
       since = least(restores.since, excluded.since), reconciled = null, open_items = '[]', erasures_wait = true
     returning 1`,
    { id, now, since: toIsoTime(since) },
  );
  return (await openRestore(trx))!;
}

/** Rows that one statement puts off: it ends far within its time limit. */
const BATCH = 5_000;

/** Orders `o` and payment links `l` by their clocks: those of real time, by the indexes of their ends, and the others. */
const BY_CLOCK = {
  orders: [
    { from: 'orders o', where: `${CLOCK_OFFSET} = 0`, offset: '0' },
    {
      from: `sandbox_clocks c cross join lateral ${ordersOfClock('c.id')} x
        join orders o on o.id = x.id and o.project_id = c.project_id`,
      where: 'c.offset_ms > 0',
      offset: 'c.offset_ms',
    },
  ],
  links: [
    { from: 'payment_links l', where: `${LINK_CLOCK_OFFSET} = 0`, offset: '0' },
    {
      from: 'sandbox_clocks c join payment_links l on l.id = c.id and l.project_id = c.project_id',
      where: 'c.offset_ms > 0',
      offset: 'c.offset_ms',
    },
  ],
};

/**
 * Puts off what was open in the backup and has ended since, or will soon: orders, attempts, capture windows and payment
 * links. They may have been paid or captured in time, which is still to be written again. An attempt whose charge was
 * begun is not put off: its outcome is found at the processor, and without one it would be sent again. Nor is a capture
 * window at whose end the service has captured or released, even if the processor refused it. `since` and `until`, the
 * new end, in epoch milliseconds of real time; ends by a sandbox clock count by that clock. Moves `modified`
 * by a microsecond only: a repeated run reads the backup's time from it.
 */
export async function postponeEnds(db: Database, since: number, until: number): Promise<void> {
  const bindings = { since: toIsoTime(since), until: toIsoTime(until) };
  const statements = [...BY_CLOCK.orders.map(postponeOrders), ...BY_CLOCK.links.map(postponeLinks)];
  for (const statement of statements) while (await hasRows(db, statement, bindings));
}

type ByClock = (typeof BY_CLOCK)['orders'][number];

/** An instant of real time by a clock that is `offset` milliseconds ahead, and whether a column is near it, in SQL. */
const byClock = (instant: string, offset: string) => `${instant}::timestamptz + ${offset} * interval '1 millisecond'`;
const isNear = (column: string, offset: string) =>
  `${column} >= ${byClock(':since', offset)} and ${column} < ${byClock(':until', offset)}`;

/** Whether transaction `t` has a capture window that has not ended: at its end the service captures or releases. */
const IS_WINDOW_OPEN = `${RESERVED} and not exists (
  select from orders f
  where f.related_order_id = t.order_id and f.kind in ('capture', 'void') and f.requested_by = 'service')`;

function postponeOrders({ from, where, offset }: ByClock): string {
  const is_period = `o.kind = 'payment' and o.status in ${sqlList(OPEN_ORDER_STATUSES)}`;
  const is_attempt = `t.original_transaction_id is null and t.status in ${sqlList(UNPAID_ATTEMPT_STATUSES)}
    and (t.status <> 'new' or not ${MAY_BE_CHARGED})`;
  const near = (condition: string, column: string) => `(
    select o.id, ${offset} as ahead from ${from} ${column.startsWith('t.') ? 'join transactions t on t.order_id = o.id' : ''}
    where ${where} and ${condition} and ${isNear(column, offset)} limit ${BATCH})`;
  const until = byClock(':until', 'near.ahead');
  return `with near as (
      ${near(is_period, 'o.expires_at')} union ${near(is_attempt, 't.expires_at')} union ${near(IS_WINDOW_OPEN, 't.capture_ends_at')}
    ), attempts as (
      update transactions t set expires_at = ${until} from near join orders o on o.id = near.id
      where t.order_id = near.id and ${is_attempt} and ${isNear('t.expires_at', 'near.ahead')}
    ), windows as (
      update transactions t set capture_ends_at = ${until} from near
      where t.order_id = near.id and ${IS_WINDOW_OPEN} and ${isNear('t.capture_ends_at', 'near.ahead')}
    )
    update orders o set ${nextVersionSql('o', 'o.modified')},
      expires_at = case when ${is_period} and ${isNear('o.expires_at', 'near.ahead')} then ${until} else o.expires_at end
    from near where o.id = near.id
    returning 1`;
}

function postponeLinks({ from, where, offset }: ByClock): string {
  return `with near as (
      select l.id, ${offset} as ahead from ${from}
      where ${where} and l.status in ${sqlList(OPEN_PAYMENT_LINK_STATUSES)} and ${isNear('l.expires_at', offset)} limit ${BATCH}
    )
    update payment_links l set expires_at = ${byClock(':until', 'near.ahead')}, ${nextVersionSql('l', 'l.modified')}
    from near where l.id = near.id
    returning 1`;
}

/** Ends the period now. The caller signals the workflow afterwards. */
export async function endPeriod(db: Database, table: 'orders' | 'payment_links', id: string, now: Date): Promise<void> {
  const ended = `update ${table} set expires_at = :now, ${nextVersionSql(table, `${table}.modified`)} where id = :id and expires_at > :now returning 1`;
  await queryRows(db, ended, { id, now });
}

/**
 * The number of an order's next webhook, in SQL. After a restore it is above the minutes from 1970 to its beginning:
 * the webhooks that were lost have had the numbers from 1, and receivers know an event by its number (rules 28.4).
 */
export const nextWebhookNumber = (order_id: string): string =>
  `(select greatest(coalesce(max(n), 0), (select coalesce(max(floor(extract(epoch from began) / 60)), 0)::int from restores)) + 1
    from webhook_deliveries where order_id = ${order_id})`;

/**
 * Records what a reconciliation has written again and left open. `reconciled`: null if it failed to read or write some
 * objects; the record then counts as reconciled only if it did before.
 */
export async function recordReconciliation(
  trx: SqlTransaction,
  { id }: Pick<Restore, 'id'>,
  { rewritten, open_items }: Pick<Restore, 'rewritten' | 'open_items'>,
  reconciled: Date | null,
): Promise<void> {
  await queryRows(
    trx,
    `update restores set reconciled = coalesce(:reconciled, reconciled), rewritten = rewritten + :rewritten,
       open_items = :open_items
     where id = :id returning 1`,
    { id, reconciled, rewritten, open_items: JSON.stringify(open_items) },
  );
}

/** Ends a restore: the service accepts requests again. */
export async function endRestore(trx: SqlTransaction, { id }: Pick<Restore, 'id'>, now: Date): Promise<void> {
  await queryRows(trx, 'update restores set ended = :now where id = :id returning 1', { id, now });
}
