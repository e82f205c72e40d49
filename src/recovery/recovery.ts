import { codeOf, isUnavailable } from '../db/availability';
import type { Database } from '../db/query';
import { KeptLease } from '../db/lease';
import { findProgress, saveProgress, type SourceProgress } from '../db/recovery/progress';
import { SOURCE_NAMES, type SourceName } from '../db/recovery/sources';
import { reconcileAttentions } from './attentions';
import { RowChecks, type CheckResult, type RecoveryServices } from './row-checks';
import { awaitsReconciliation, requireReconciled } from '../db/backups/restores';
import { applyRetention } from '../db/retention/retention';
import { RETENTION_DAYS, type Retained, type RetentionDays } from '../domain/retention';
import { ServiceError } from '../errors';
import { Loop } from '../loop';
import { grpcStatusOf } from '../temporal/grpc-status';
import { TaskBacklog } from '../temporal/task-backlog';
import { UnreplayableWorkflows } from './unreplayable';
import { gauge, incrementCounter } from '../metrics/recorder';
import { DAY_MS, HOUR_MS } from '../domain/period';

/** Skip rows that changed in the last minute: their workflow is still at work. Milliseconds. */
const MIN_AGE_MS = 60_000;
const EVERY_MS = 30_000;

/** SQLSTATE of a statement that took longer than the role may, or waited too long for a lock. */
const TOO_SLOW = ['57014', '55P03'];

/** How often a round looks whether a restore has begun. Milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** Pause between two deletions of old rows. Milliseconds. */
const DELETE_EVERY_MS = HOUR_MS;

/** A round deletes for this long at most; the next one goes on. Milliseconds. */
const DELETE_FOR_MS = 10_000;

/** Another worker takes over within ten seconds after the holder was killed or stopped. */
const LEASE = { name: 'recovery', lasts_ms: 8_000, every_ms: 2_000 };

/**
 * Continues work that is in the database but that Temporal has lost: a workflow that was terminated, or an update whose
 * row was written before server and worker died. Each round checks the rows that fell due since the last one, and
 * starts or signals the workflow of each. Repeat-safe (rules 10.13).
 *
 * Every worker runs this. The holder of the lease does the work; its progress is in the database, so that another
 * worker can take over.
 */
export class Recovery {
  private readonly lease: KeptLease;
  private readonly loop = new Loop(() => this.round());
  private readonly checks: RowChecks;
  private readonly unreplayable: UnreplayableWorkflows;
  private deleted_at = Number.NEGATIVE_INFINITY;
  /** Of the last tries, in the order of their failures. */
  private failed_deletions: Retained[] = [];
  /** Why the last round had to stop, if Temporal did not answer. */
  private unavailable: Error | undefined;
  /** Where the next look at the attentions to webhooks begins. */
  private webhooks_after = '';

  /** `retention`: how many days old rows are kept (rules 29.1). */
  constructor(
    private readonly services: RecoveryServices,
    private readonly retention: RetentionDays = RETENTION_DAYS,
  ) {
    this.lease = new KeptLease(services.db, { ...LEASE, build: services.build });
    const awaits = restoreWatch(services.db);
    const mayGoOn = async () =>
      !this.loop.isStopping && (await this.lease.databaseTime()) !== undefined && !(await awaits());
    this.checks = new RowChecks(services, { mayGoOn, unavailable: (error) => (this.unavailable = error) });
    this.unreplayable = new UnreplayableWorkflows(services, mayGoOn);
    gauge('payments_lease_holder', () => [{ value: this.lease.holder ? 1 : 0, labels: { lease: 'recovery' } }]);
  }

  /** Runs a round now, then one every 30 seconds, while this process has the lease. */
  start(): void {
    this.lease.start();
    this.loop.start();
  }

  /** The name of this process as the holder of the lease; `undefined` while it does not have it. */
  get holder(): string | undefined {
    return this.lease.holder;
  }

  /** Starts no new check. Resolves when the current calls have ended. */
  async stop(): Promise<void> {
    await this.loop.stop();
    await this.lease.stop();
  }

  /**
   * One round; `now` in epoch milliseconds. `false`: a restore has to be reconciled first, and nothing was done. Throws
   * when the database is unavailable; the next round continues where this one ended.
   */
  async recover(now: number): Promise<boolean> {
    const { db, log } = this.services;
    this.unavailable = undefined;
    if (await awaitsReconciliation(db)) return false;
    const until = now - MIN_AGE_MS;
    const progress = await this.progressAt(until);
    const finished: Partial<Record<SourceName, SourceProgress>> = {};
    let too_slow = 0;
    for (const name of SOURCE_NAMES) {
      const since = progress[name] ?? { checked_until: 0, round_until: null, position: null };
      const round_until = since.round_until ?? until;
      if (round_until <= since.checked_until) continue;
      try {
        if (!(await this.checkAll(name, { ...since, round_until }))) break;
        finished[name] = { checked_until: round_until, round_until: null, position: null };
      } catch (error) {
        // One kind of rows alone does not hold up the others; at the second one all of Postgres is too slow.
        const is_too_slow = TOO_SLOW.includes(codeOf(error) ?? '') && (too_slow += 1) === 1;
        if (isUnavailable(error) && !is_too_slow) throw error;
        log.error({ err: error, source: name }, 'recovery could not read its rows');
      }
    }
    if (Object.keys(finished).length > 0) await saveProgress(db, finished);
    // Attentions are only shown: a failure here must not end the round.
    try {
      this.webhooks_after = await reconcileAttentions(db, now, this.webhooks_after);
    } catch (err) {
      log.error({ err }, 'recovery could not bring the attentions up to date');
    }
    await this.deleteOldRows(now);
    return true;
  }

  /** What fails is tried again in the next round; a Temporal older than 1.30 does not know such workflows. */
  private async restartUnreplayable(now: number): Promise<void> {
    try {
      await this.unreplayable.restart(now);
    } catch (err) {
      if (grpcStatusOf(err) === 'invalid_argument') return;
      this.services.log.warn({ err }, 'recovery could not look for workflows whose histories do not replay');
    }
  }

  /** Once an hour; what a round does not manage is left to the next one, so that checks come in time. */
  private async deleteOldRows(now: number): Promise<void> {
    const { db, log } = this.services;
    const began = performance.now();
    if (began - this.deleted_at < DELETE_EVERY_MS) return;
    let is_complete = true;
    const [failed_before, failed]: [Retained[], Retained[]] = [this.failed_deletions, []];
    const removed = await applyRetention(db, this.retention, now, {
      mayGoOn: () => (is_complete = performance.now() - began < DELETE_FOR_MS && !this.loop.isStopping),
      // What took the whole time before it failed comes after what waited for it.
      last: failed_before,
      failed: (name, err) => {
        failed.push(name);
        log.error({ err, rows: name }, 'recovery could not remove old rows');
      },
    });
    const has_failed_again = failed.some((name) => failed_before.includes(name));
    if (is_complete || has_failed_again) this.deleted_at = began;
    this.failed_deletions = is_complete
      ? failed
      : [...failed_before.filter((name) => !failed.includes(name)), ...failed];
    if (Object.keys(removed).length > 0) log.info({ rows: removed }, 'old rows removed');
  }

  /**
   * How far every source was checked, at most `until` (epoch milliseconds). Progress beyond `until` was saved while the
   * database's clock was ahead, for example before a failover; rows that fall due between the two have not been
   * checked. A round up to a later instant starts again, as checking twice is safe.
   */
  private async progressAt(until: number): Promise<Partial<Record<SourceName, SourceProgress>>> {
    const { db } = this.services;
    const progress = await findProgress(db);
    const lowered: typeof progress = {};
    for (const name of SOURCE_NAMES) {
      const { checked_until = 0, round_until } = progress[name] ?? {};
      if (Math.max(checked_until, round_until ?? 0) <= until) continue;
      lowered[name] = { checked_until: Math.min(checked_until, until), round_until: null, position: null };
    }
    // Saved before any check: an interrupted round must not leave the wrong progress to a later round.
    if (Object.keys(lowered).length > 0) await saveProgress(db, lowered);
    return { ...progress, ...lowered };
  }

  /** Checks all due rows of a source. `false`: it had to stop, and saved its position. */
  private async checkAll(name: SourceName, progress: SourceProgress & { round_until: number }): Promise<boolean> {
    const { checked_until: since, round_until: until, position: after } = progress;
    return await this.checks.checkAll(name, { since, until, after }, (position) =>
      saveProgress(this.services.db, { [name]: { ...progress, position } }),
    );
  }

  private async round(): Promise<number> {
    try {
      const now = await this.lease.databaseTime();
      if (now !== undefined) {
        const is_reconciled = await this.recover(now);
        if (this.unavailable !== undefined) throw this.unavailable;
        if (is_reconciled) await this.restartUnreplayable(now);
        incrementCounter('payments_recovery_rounds_total', { result: 'finished' });
      }
    } catch (error) {
      incrementCounter('payments_recovery_rounds_total', { result: 'failed' });
      this.services.log.warn({ err: error }, 'recovery round failed');
    }
    return EVERY_MS;
  }
}

/** Number of checks by source and result. */
export type CheckCounts = Record<SourceName, Record<CheckResult, number>>;

/** Far beyond the last instant of any row, sandbox clocks included. Milliseconds. */
const EVER_MS = 10 * 365 * DAY_MS;

/**
 * Whether a restored record has to be reconciled first, as it was at most a second ago: a restore may begin while many
 * rows are checked (rules 28.1).
 */
function restoreWatch(db: Database): () => Promise<boolean> {
  let [awaits, looked] = [false, Number.NEGATIVE_INFINITY];
  return async () => {
    if (performance.now() - looked >= LOOK_EVERY_MS) {
      awaits = await awaitsReconciliation(db);
      looked = performance.now();
    }
    return awaits;
  };
}

/**
 * Checks all rows of all sources, whenever their next check is due; `now` in epoch milliseconds. Rows that are due are
 * checked as in a first round: workflows are started or signalled. Of all others missing workflows are started, and
 * late approvals and announced operations are polled. Between starts it waits while many tasks are queued, so that
 * requests stay fast. It needs no lease: what a worker checks at the same time is continued once. Throws
 * ServiceUnavailable when Temporal does not answer.
 */
export async function recoverEverything(services: RecoveryServices, now: number): Promise<CheckCounts> {
  const counts = Object.fromEntries(
    SOURCE_NAMES.map((name) => [name, { checked: 0, restarted: 0, failed: 0 }]),
  ) as CheckCounts;
  const backlog = new TaskBacklog(services.client);
  const awaits = restoreWatch(services.db);
  const checks = new RowChecks(services, {
    mayGoOn: async () => {
      await backlog.untilShort();
      if (await awaits()) await requireReconciled(services.db);
      return true;
    },
    ended: (name, result) => (counts[name][result] += 1),
  });
  const due = now - MIN_AGE_MS;
  for (const name of SOURCE_NAMES) {
    const is_complete =
      (await checks.checkAll(name, { since: 0, until: due, after: null })) &&
      (await checks.checkAll(name, { since: due, until: now + EVER_MS, after: null, only_start: true }));
    if (!is_complete) throw new ServiceError('ServiceUnavailable', 'Temporal does not answer. Run the command again.');
  }
  return counts;
}
