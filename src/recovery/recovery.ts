import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, type Database } from '../db/connection';
import { KeptLease } from '../db/lease';
import { findChecks, type Check } from '../db/recovery/checks';
import { findProgress, saveProgress, type SourceProgress } from '../db/recovery/progress';
import { SOURCE_NAMES, type OrderCheck, type SourceName } from '../db/recovery/sources';
import { reconcileAttentions } from './attentions';
import { deleteLoggedRequests } from '../db/requests/logged-requests';
import { deleteReceiverChecks } from '../db/receiver-checks';
import { deleteClaims } from '../db/requests/request-claims';
import type { Logger } from '../log';
import { count, gauge } from '../metrics/recorder';
import { callOnce } from '../temporal/call';
import { pingTemporal, type TemporalClient } from '../temporal/connect';
import { countStarts } from '../temporal/starts';
import type { WorkflowClients } from '../temporal/workflows';

/** Skip rows that changed in the last minute: their workflow is still at work. Milliseconds. */
const MIN_AGE_MS = 60_000;
const EVERY_MS = 30_000;
const PAGE = 1_000;
/** Limit of a call: Temporal without an answer must not delay the end of the process. Milliseconds. */
const CALL_MS = 5_000;

/** Pause between two deletions of old rows. Milliseconds. */
const DELETE_EVERY_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Requests older than a day are never carried out (rules 10.5). */
const CLAIM_MAX_AGE_MS = DAY_MS;
/** How long the request log keeps a request (rules 25.5). */
const LOGGED_REQUEST_MAX_AGE_MS = 30 * DAY_MS;
/** How long receiver checks are kept (rules 27.10). */
const RECEIVER_CHECK_MAX_AGE_MS = 30 * DAY_MS;

/** Another worker takes over 75 seconds after the holder was killed. */
const LEASE = { name: 'recovery', lasts_ms: 75_000, every_ms: 20_000 };

interface Services {
  db: Database;
  client: TemporalClient;
  workflows: Pick<
    WorkflowClients,
    'orders' | 'follow_ups' | 'payment_links' | 'deliveries' | 'webhook_recoveries' | 'sandbox_clocks'
  >;
  log: Logger;
}

type Handlers = { [Name in SourceName]: (check: Check<Name>) => Promise<void> };

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
  private readonly stopping = new AbortController();
  private readonly handlers: Handlers;
  private loop: Promise<void> = Promise.resolve();
  private deleted_at = Number.NEGATIVE_INFINITY;

  constructor(private readonly services: Services) {
    this.lease = new KeptLease(services.db, LEASE);
    this.handlers = handlersOf(services.workflows);
    gauge('payments_lease_holder', () => [{ value: this.lease.holder ? 1 : 0, labels: { lease: 'recovery' } }]);
  }

  /** Runs a round now, then one every 30 seconds, while this process has the lease. */
  start(): void {
    this.lease.start();
    this.loop = this.run();
  }

  /** Whether this process has the lease. */
  get isHolder(): boolean {
    return this.lease.holder !== undefined;
  }

  /** Starts no new check. Resolves when the current call has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await this.lease.stop();
  }

  /**
   * One round; `now` in epoch milliseconds. Throws when the database is unavailable; the next round continues where
   * this one ended.
   */
  async recover(now: number): Promise<void> {
    const { db, log } = this.services;
    const until = now - MIN_AGE_MS;
    const progress = await this.progressAt(until);
    const finished: Partial<Record<SourceName, SourceProgress>> = {};
    for (const name of SOURCE_NAMES) {
      const since = progress[name] ?? { checked_until: 0, round_until: null, position: null };
      const round_until = since.round_until ?? until;
      if (round_until <= since.checked_until) continue;
      try {
        if (!(await this.checkAll(name, { ...since, round_until }))) break;
        finished[name] = { checked_until: round_until, round_until: null, position: null };
      } catch (error) {
        if (isUnavailable(error)) throw error;
        log.error({ err: error, source: name }, 'recovery could not read its rows');
      }
    }
    if (Object.keys(finished).length > 0) await saveProgress(db, finished);
    await reconcileAttentions(db, now);
    await this.deleteOldRows(now);
  }

  /** Once an hour. */
  private async deleteOldRows(now: number): Promise<void> {
    if (performance.now() - this.deleted_at < DELETE_EVERY_MS) return;
    this.deleted_at = performance.now();
    await deleteClaims(this.services.db, now - CLAIM_MAX_AGE_MS);
    await deleteLoggedRequests(this.services.db, now - LOGGED_REQUEST_MAX_AGE_MS);
    await deleteReceiverChecks(this.services.db, now - RECEIVER_CHECK_MAX_AGE_MS);
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
    const { db } = this.services;
    const { checked_until: since, round_until: until } = progress;
    let after = progress.position;
    for (;;) {
      const page = await findChecks(db, name, { since, until, after, limit: PAGE });
      for (const check of page) {
        if (!(await this.make(name, check))) {
          await saveProgress(db, { [name]: { ...progress, position: after } });
          return false;
        }
        after = check.position;
      }
      if (page.length < PAGE) return true;
      await saveProgress(db, { [name]: { ...progress, position: after } });
    }
  }

  /**
   * Checks one row. A failure is logged, and the row waits for its next check. `false` when Temporal does not answer,
   * another worker has the lease, or this one is stopping.
   */
  private async make<Name extends SourceName>(name: Name, check: Check<Name>): Promise<boolean> {
    const { client, log } = this.services;
    if (this.stopping.signal.aborted || (await this.lease.databaseTime()) === undefined) return false;
    const checked = (result: 'checked' | 'restarted' | 'failed') =>
      count('payments_recovery_checks_total', { source: name, result });
    try {
      const started = await countStarts(() => callOnce(client, Date.now() + CALL_MS, () => this.handlers[name](check)));
      checked(started > 0 ? 'restarted' : 'checked');
    } catch (error) {
      const is_available = await pingTemporal(client).then(
        () => true,
        () => false,
      );
      if (!is_available) return false;
      checked('failed');
      log.warn({ err: error, source: name, key: check.key }, 'recovery could not restart a workflow');
    }
    return true;
  }

  private async run(): Promise<void> {
    const { log } = this.services;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const now = await this.lease.databaseTime();
        if (now !== undefined) {
          await this.recover(now);
          count('payments_recovery_rounds_total', { result: 'finished' });
        }
      } catch (error) {
        count('payments_recovery_rounds_total', { result: 'failed' });
        log.warn({ err: error }, 'recovery round failed');
      }
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The call that continues a row of each source. */
function handlersOf({
  orders,
  follow_ups,
  payment_links,
  deliveries,
  webhook_recoveries,
  sandbox_clocks,
}: Services['workflows']): Handlers {
  // First check: signal, so that a running workflow reads the record. Later checks: only start a missing workflow.
  // While a creation may run, never signal.
  const continueOrder = ({ row, is_first }: { row: OrderCheck; is_first: boolean }) =>
    is_first && !row.is_being_created ? orders.resume(row) : orders.start(row);
  return {
    attempts: continueOrder,
    expired_orders: continueOrder,
    expired_transactions: continueOrder,
    unknown_outcomes: continueOrder,
    authorizations: continueOrder,
    capture_windows: continueOrder,
    follow_ups: ({ row }) => follow_ups.start(row),
    late_approvals: ({ row }) => follow_ups.resumeWatch(row),
    announced_operations: ({ row }) => follow_ups.resumeAnnounced(row),
    payment_links: ({ row }) => payment_links.resume(row),
    expired_payment_links: ({ row }) => payment_links.resume(row),
    // The workflow may be running and may have missed the resume.
    deliveries: ({ row }) => deliveries.resume(row),
    webhook_recoveries: ({ row }) => webhook_recoveries.resume(row),
    sandbox_clocks: ({ row }) => sandbox_clocks.start(row),
  };
}
