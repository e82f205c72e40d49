import { queryRows, toIsoTime, type Database, type SqlTransaction } from './connection';

/** What could not be written again, for a person (rules 28.5). */
export interface OpenItem {
  /** For example `order:018f…`. */
  object: string;
  reason: string;
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
  const [row] = await queryRows<Restore>(db, `select ${COLUMNS} from restores where ended is null`, {});
  return row;
}

/**
 * The instant of the newest change in the record, epoch milliseconds; undefined in an empty one. Objects whose sandbox
 * clock is ahead are left out: their instants are not of real time.
 */
export async function newestChange(db: Database): Promise<number | undefined> {
  const newestOf = (table: string, clock: string) =>
    `(select max(modified) from ${table} where ${clock} not in (select id from sandbox_clocks where offset_ms > 0))`;
  const [row] = await queryRows<{ newest: string | null }>(
    db,
    `select greatest(${newestOf('orders', 'clock_id')}, ${newestOf('payment_links', 'id')}) as newest`,
    {},
  );
  return row?.newest == null ? undefined : Date.parse(row.newest);
}

/** Begins a restore, unless one is under way. Returns that which is under way then. */
export async function beginRestore(trx: SqlTransaction, id: string, since: number, now: Date): Promise<Restore> {
  await queryRows(
    trx,
    'insert into restores (id, began, since) values (:id, :now, :since) on conflict do nothing returning 1',
    { id, now, since: toIsoTime(since) },
  );
  return (await openRestore(trx))!;
}

/** Records what a reconciliation has written again and left open. */
export async function recordReconciliation(
  trx: SqlTransaction,
  { id }: Pick<Restore, 'id'>,
  { rewritten, open_items }: Pick<Restore, 'rewritten' | 'open_items'>,
  now: Date,
): Promise<void> {
  await queryRows(
    trx,
    `update restores set reconciled = :now, rewritten = rewritten + :rewritten, open_items = :open_items
     where id = :id returning 1`,
    { id, now, rewritten, open_items: JSON.stringify(open_items) },
  );
}

/** Ends a restore: the service accepts requests again. */
export async function endRestore(trx: SqlTransaction, { id }: Pick<Restore, 'id'>, now: Date): Promise<void> {
  await queryRows(trx, 'update restores set ended = :now where id = :id returning 1', { id, now });
}
