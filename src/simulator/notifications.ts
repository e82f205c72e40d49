import type { Pool } from 'pg';

/** A notification to send now. */
export interface ClaimedNotification {
  id: string;
  /** Of the operation it is about; null: there are settlements to fetch. */
  idempotency_key: string | null;
  attempts: number;
}

const CLAIM = `
update notifications set attempts = attempts + 1, due = $1::timestamptz + least(power(2, attempts), 300) * interval '1 second'
where id in (select id from notifications where sent is null and due <= $1 and attempts < $2 order by due limit 20 for update skip locked)
returning id, idempotency_key, attempts`;

/** The notifications that are sent, or wait to be. */
export class Notifications {
  constructor(private readonly pool: Pool) {}

  /** Queues a notification about an operation as it is; false when there is none of that key. */
  async queue(idempotency_key: string, now: Date): Promise<boolean> {
    const queued = await this.pool.query(
      `insert into notifications (id, idempotency_key, due)
       select 'msg_' || gen_random_uuid(), idempotency_key, $2 from operations where idempotency_key = $1`,
      [idempotency_key, now],
    );
    return queued.rowCount === 1;
  }

  /**
   * Notifications to send now. Each is hidden until its next attempt is due, so a process that dies meanwhile only
   * delays it.
   */
  async claim(now: Date, attempts_max: number): Promise<ClaimedNotification[]> {
    return (await this.pool.query<ClaimedNotification>(CLAIM, [now, attempts_max])).rows;
  }

  async markSent(id: string, now: Date): Promise<void> {
    await this.pool.query('update notifications set sent = $2 where id = $1', [id, now]);
  }
}
