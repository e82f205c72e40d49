import { queryRows, type Database } from './connection';

export type Lease = {
  name: string;
  holder: string;
  lasts_ms: number;
};

/**
 * Takes a lease, or renews it, by the database's clock, which it returns in epoch milliseconds; `undefined` while
 * somebody else has the lease. A row and no session lock, as a pooler such as PgBouncer gives each statement another
 * session.
 *
 * A lease that ends more than `lasts_ms` from now was written by a clock that was ahead, and counts as ended: otherwise
 * nobody would take it until the corrected clock has caught up. So all holders of one name use the same `lasts_ms`.
 */
export async function takeLease(db: Database, lease: Lease): Promise<number | undefined> {
  const [taken] = await queryRows<{ now: string }>(
    db,
    `insert into leases (name, holder, expires_at)
     values (:name, :holder, clock_timestamp() + :lasts_ms * interval '1 millisecond')
     on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
     where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp()
       or leases.expires_at > clock_timestamp() + :lasts_ms * interval '1 millisecond'
     returning clock_timestamp() as now`,
    lease,
  );
  return taken && Date.parse(taken.now);
}

/**
 * Renews a lease that nobody has taken since it was the holder's. False otherwise: what the holder did meanwhile may
 * have been done beside somebody else's work.
 */
export async function renewLease(db: Database, lease: Lease): Promise<boolean> {
  const renewed = await queryRows(
    db,
    `update leases set expires_at = clock_timestamp() + :lasts_ms * interval '1 millisecond'
     where name = :name and holder = :holder returning 1`,
    lease,
  );
  return renewed.length > 0;
}

/** Lets somebody else take the lease at once. */
export async function releaseLease(db: Database, lease: Pick<Lease, 'name' | 'holder'>): Promise<void> {
  await queryRows(db, 'delete from leases where name = :name and holder = :holder', lease);
}
