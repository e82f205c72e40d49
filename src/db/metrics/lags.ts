import { queryRows, type Database } from '../connection';

/** How far the loops of the workers are behind, by the database's clock. Null: nothing waits, or it has never run. */
export interface Lags {
  /** Changes of orders that the search index does not have yet, and seconds since the oldest. */
  outbox_rows: number;
  outbox_seconds: number | null;
  /** Seconds since the instant up to which recovery has checked every kind of row. */
  recovery_seconds: number | null;
  /** Seconds since the oldest attempt of a webhook fell due. */
  webhook_seconds: number | null;
}

const secondsSince = (instant: string) => `floor(extract(epoch from clock_timestamp() - ${instant}))::int`;

export async function findLags(db: Database): Promise<Lags> {
  const [lags] = await queryRows<Lags>(
    db,
    `select outbox_rows, outbox_seconds, recovery_seconds, webhook_seconds from
       (select count(*)::int as outbox_rows, ${secondsSince('min(changed)')} as outbox_seconds from search_outbox) a,
       (select ${secondsSince('min(checked_until)')} as recovery_seconds from recovery_progress) b,
       (select ${secondsSince('min(next_attempt_at)')} as webhook_seconds from webhook_deliveries
        where status = 'new' and next_attempt_at < clock_timestamp()) c`,
    {},
  );
  return lags!;
}
