import { randomUUID } from 'node:crypto';
import { oneAtATime } from '../domain/one-at-a-time';
import { Loop } from '../loop';
import { epochMsSql } from './columns';
import { queryRow, queryRows, type Database } from './query';

/** Work that one process at a time does; the times of a lease are by the database's clock. */
export type Lease = {
  name: string;
  holder: string;
  lasts_ms: number;
  /** The build that the holder runs. While another one is current it neither takes nor renews the lease. */
  build?: string | undefined;
};

const END = `clock_timestamp() + :lasts_ms * interval '1 millisecond'`;
const NOW = `${epochMsSql('clock_timestamp()')} as now`;
const IS_CURRENT = `not exists (select from current_build where build is distinct from cast(:build as text)
  and cast(:build as text) is not null)`;

/**
 * Takes a free lease, or renews the holder's. Returns the database's time in epoch milliseconds; `undefined` while
 * another holder has it. A row instead of a session lock, as a pooler such as PgBouncer gives each statement another
 * session.
 *
 * A lease that ends more than `lasts_ms` from now was written while the clock was ahead, and counts as ended: otherwise
 * it would block until the corrected clock has caught up. All holders of one name therefore use the same `lasts_ms`.
 */
export async function takeLease(db: Database, lease: Lease): Promise<number | undefined> {
  const taken = await queryRow<{ now: number }>(
    db,
    `insert into leases (name, holder, build, expires_at)
     select cast(:name as text), cast(:holder as text), cast(:build as text), ${END} where ${IS_CURRENT}
     on conflict (name) do update set holder = excluded.holder, build = excluded.build, expires_at = excluded.expires_at
     where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp() or leases.expires_at > ${END}
     returning ${NOW}`,
    { ...lease, build: lease.build ?? null },
  );
  return taken?.now;
}

/**
 * Renews a lease unless another holder has taken it meanwhile, and returns the database's time. Otherwise `undefined`:
 * another holder may have worked at the same time.
 */
export async function renewLease(db: Database, lease: Lease): Promise<number | undefined> {
  const renewed = await queryRow<{ now: number }>(
    db,
    `update leases set expires_at = ${END} where name = :name and holder = :holder and ${IS_CURRENT} returning ${NOW}`,
    { ...lease, build: lease.build ?? null },
  );
  return renewed?.now;
}

/** Ends a lease before its time. Its build keeps the rank of the current one for a while (rules 24.20). */
export async function releaseLease(db: Database, lease: Pick<Lease, 'name' | 'holder'>): Promise<void> {
  await queryRows(
    db,
    `with released as (delete from leases where name = :name and holder = :holder returning build)
     update current_build set seen_at = clock_timestamp() where build in (select build from released)`,
    lease,
  );
}

/** Throws once another process may do the same work. */
export type RequireLease = () => Promise<void>;

/**
 * A lease that this process takes whenever it is free, and renews in the background. Each time it is taken it gets a
 * new holder name, so that work begun before a loss is not mistaken for current work.
 */
export class KeptLease {
  private readonly loop = new Loop(async () => {
    // Without an answer the lease ends by itself.
    await this.renewOrTake().catch(() => undefined);
    return this.options.every_ms;
  });
  /** One try at a time: two could take the lease under different holders. */
  private readonly inTurn = oneAtATime();
  private lease: Lease;
  /** The database's time of the last renewal, and when it was requested by this machine's monotonic clock. */
  private renewed: { now: number; asked: number } | undefined;

  /**
   * `every_ms`: the interval of renewals, and of tries while another process has the lease. `build`: while another
   * build is current, this process does not have the lease.
   */
  constructor(
    private readonly db: Database,
    private readonly options: { name: string; lasts_ms: number; every_ms: number; build?: string | undefined },
  ) {
    this.lease = this.underNewHolder();
  }

  start(): void {
    this.loop.start();
  }

  /** Ends the lease after the try under way. No try uses the database afterwards. */
  async stop(): Promise<void> {
    await this.loop.stop();
    await this.inTurn(async () => {
      this.renewed = undefined;
      await releaseLease(this.db, this.lease);
    }).catch(() => undefined);
  }

  /** The name of this process as the holder; `undefined` while it does not have the lease. */
  get holder(): string | undefined {
    return this.elapsed() < this.lease.lasts_ms ? this.lease.holder : undefined;
  }

  /**
   * The database's time while this process has the lease, epoch milliseconds; tries to take the lease otherwise.
   * `undefined` while another process has it. All processes share this time; the machine's clock only adds the time
   * since the last answer.
   */
  async databaseTime(): Promise<number | undefined> {
    if (this.holder === undefined) await this.renewOrTake();
    return this.holder === undefined ? undefined : this.renewed!.now + this.elapsed();
  }

  /** Asks the database whether the lease has been the holder's until now. */
  async isStillOf(holder: string): Promise<boolean> {
    return (await renewLease(this.db, { ...this.lease, holder })) !== undefined;
  }

  private elapsed(): number {
    return this.renewed === undefined ? Infinity : performance.now() - this.renewed.asked;
  }

  private async renewOrTake(): Promise<void> {
    await this.inTurn(async () => {
      if (this.loop.isStopping) return;
      const asked = performance.now();
      const renewed = this.renewed && (await renewLease(this.db, this.lease));
      if (this.renewed !== undefined && renewed === undefined) {
        this.lease = this.underNewHolder();
        this.renewed = undefined;
      }
      const now = renewed ?? (await takeLease(this.db, this.lease));
      this.renewed = now === undefined ? undefined : { now, asked };
    });
  }

  private underNewHolder(): Lease {
    const { name, lasts_ms, build } = this.options;
    return { name, lasts_ms, build, holder: randomUUID() };
  }
}
