import { claimCurrentBuild, type Build } from '../db/builds/current-build';
import type { Database } from '../db/query';
import type { RetentionDays } from '../domain/retention';
import { Indexer } from '../indexer/indexer';
import type { Logger } from '../log';
import { Loop } from '../loop';
import { Recovery } from '../recovery/recovery';
import type { SearchWriter } from '../search/writer';
import type { TemporalClient } from '../temporal/connect';
import { makeSchedules } from '../temporal/schedules';
import type { WorkflowClients } from '../temporal/workflows';

/** Pause between two looks at the current build and the lease of recovery. Milliseconds. */
const EVERY_MS = 5_000;
/** Pause between two looks whether the schedules are still there: Temporal may have lost its data. Milliseconds. */
const MISSING_EVERY_MS = 5 * 60_000;
/** The pause after a start, which usually takes the lease at once. Milliseconds. */
const FIRST_MS = 250;

interface KeeperServices {
  db: Database;
  client: TemporalClient;
  workflows: WorkflowClients;
  index: SearchWriter;
  log: Logger;
  build: Build;
  /** An operator chooses the version that is current (rules 24.21). */
  is_versioned: boolean;
  /** How many days old rows are kept (rules 29.1). */
  retention: RetentionDays;
}

/**
 * The role `keeper` of a worker: recovery, the indexer and the schedules. One process of the current build does each,
 * by lease: a worker of an older build neither takes a lease nor changes a schedule while a newer build is current
 * (rules 24.20).
 */
export class Keeper {
  private readonly recovery: Recovery;
  private readonly indexer: Indexer;
  private readonly loop = new Loop(async () => {
    await this.look();
    await this.schedule();
    return EVERY_MS;
  });
  private is_current: boolean | undefined;
  /** The holder of the lease of recovery that has made the schedules, and when it has looked at them last. */
  private scheduled_by: string | undefined;
  private scheduled_at = 0;
  /** Only the first of several failures in a row is logged. */
  private is_failing = false;

  constructor(
    private readonly services: KeeperServices,
    private readonly missing_every_ms = MISSING_EVERY_MS,
  ) {
    const { db, client, workflows, index, log, retention } = services;
    const { build } = services.build;
    this.recovery = new Recovery({ db, client, workflows, log, build }, retention);
    this.indexer = new Indexer({ db, index, log, build });
  }

  /** Takes the leases that are free, if this build is the current one. */
  async start(): Promise<void> {
    await this.look();
    this.recovery.start();
    this.indexer.start();
    this.loop.start(FIRST_MS);
  }

  /** Whether this process has the lease of recovery. */
  get isHolder(): boolean {
    return this.recovery.holder !== undefined;
  }

  /** Resolves when the work under way has ended and the leases are free. */
  async stop(): Promise<void> {
    await Promise.all([this.loop.stop(), this.recovery.stop(), this.indexer.stop()]);
  }

  /** Makes this build the current one if it may be. */
  private async look(): Promise<void> {
    const { db, build, is_versioned, log } = this.services;
    const is_current = await claimCurrentBuild(db, build, { any_version: !is_versioned }).catch(() => undefined);
    if (is_current === undefined || is_current === this.is_current) return;
    this.is_current = is_current;
    const { build: name } = build;
    if (is_current) log.info({ build: name }, 'this build is the current one');
    else log.info({ build: name }, 'another build is current: this one takes no lease');
  }

  /**
   * Each holder of the lease makes the schedules once, and then those that are missing. Payments work without them; the
   * next look tries again.
   */
  private async schedule(): Promise<void> {
    const { client, log, build } = this.services;
    const { holder } = this.recovery;
    const only_missing = holder === this.scheduled_by;
    const is_soon = performance.now() - this.scheduled_at < this.missing_every_ms;
    if (holder === undefined || (only_missing && is_soon)) return;
    try {
      await makeSchedules(client, build.build, { only_missing });
      this.scheduled_by = holder;
      this.scheduled_at = performance.now();
      this.is_failing = false;
    } catch (err) {
      if (!this.is_failing) log.error({ err }, 'cannot create the schedules; trying again');
      this.is_failing = true;
    }
  }
}
