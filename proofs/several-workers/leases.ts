import { connectDatabase } from '../../src/db/connection';
import { queryRows, type Database } from '../../src/db/query';

/** Work that one process at a time does, and the table whose rows it writes or deletes while it has the lease. */
export const LEASES = { recovery: 'recovery_progress', 'search indexer': 'search_outbox' } as const;
export type LeaseName = keyof typeof LEASES;

/** Who has taken a lease or done its work, in the order of these events. */
interface LeaseEvent {
  /** `application_name` of the connection. */
  process: string;
  lease: LeaseName;
  is_work: boolean;
  at: Date;
}

/** Writes down who takes leases and who does their work, by triggers, in a table beside those of the service. */
export class LeaseRecorder {
  private readonly db: Database;

  constructor(postgres_url: string) {
    this.db = connectDatabase(postgres_url, { pool_max: 2 });
  }

  async start(): Promise<void> {
    const ofWork = Object.entries(LEASES).map(
      ([lease, table]) => `create trigger proof_work after update or delete on ${table} for each statement
        execute function proof_event('${lease}', 'true')`,
    );
    await this.db.raw(`
      create table proof_events (n bigint generated always as identity, process text not null, lease text not null,
        is_work boolean not null, at timestamptz not null);
      create function proof_event() returns trigger language plpgsql security definer as $$
        begin
          insert into proof_events (process, lease, is_work, at) values (current_setting('application_name'),
            coalesce(tg_argv[0], to_jsonb(new) ->> 'name'), coalesce(tg_argv[1], 'false')::boolean, clock_timestamp());
          return null;
        end
      $$;
      create trigger proof_lease after insert or update on leases for each row execute function proof_event();
      ${ofWork.join(';\n')}`);
  }

  /** The process that took or renewed the lease last. */
  async holderOf(lease: LeaseName): Promise<string | undefined> {
    const [last] = await queryRows<{ process: string }>(
      this.db,
      'select process from proof_events where lease = :lease and not is_work order by n desc limit 1',
      { lease },
    );
    return last?.process;
  }

  /**
   * Statements of work, how often leases passed to another process, and what a process did after another one had its
   * lease.
   */
  async judge(): Promise<{ work: number; passed_on: number; violations: string[] }> {
    const events = await queryRows<LeaseEvent>(
      this.db,
      'select process, lease, is_work, at from proof_events order by n',
    );
    const holders = new Map<LeaseName, string>();
    const violations: string[] = [];
    /** Who did the work of each lease. */
    const worked = new Map<LeaseName, Set<string>>();
    let [work, passed_on] = [0, 0];
    for (const { process, lease, is_work, at } of events) {
      const holder = holders.get(lease);
      if (!is_work) {
        if (holder !== undefined && holder !== process) passed_on += 1;
        holders.set(lease, process);
      } else if (process.startsWith(KEEPER)) {
        work += 1;
        worked.set(lease, (worked.get(lease) ?? new Set()).add(process));
        if (holder !== process) {
          violations.push(`${process} did the work of ${lease} at ${at.toISOString()}, when ${holder} had the lease`);
        }
      }
    }
    for (const lease of Object.keys(LEASES) as LeaseName[]) {
      const by = worked.get(lease)?.size ?? 0;
      if (by < 2) violations.push(`the work of ${lease} was seen of ${by} keepers only`);
    }
    return { work, passed_on, violations };
  }

  async close(): Promise<void> {
    await this.db.destroy();
  }
}

/** The names of keepers begin with it. */
export const KEEPER = 'keeper';
