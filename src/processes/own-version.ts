import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/query';
import { findCurrentBuild, setCurrentVersion, type Build } from '../db/builds/current-build';
import type { Logger } from '../log';
import { Loop } from '../loop';
import { findCurrentVersion, makeVersionCurrent, type WorkerDeployment } from '../temporal/deployment';
import { drainOthers, type ReplayOptions } from '../temporal/open-histories';

/** Temporal knows a version soon after its first polls. Milliseconds. */
const WAIT_MS = 30_000;
const AGAIN_MS = 250;
const LATER_MS = 10_000;
const WATCH_MS = 15_000;

interface OwnVersionServices {
  db: Database;
  deployment: WorkerDeployment;
  log: Logger;
  build: Build;
  /** The workflows that this worker runs. */
  bundle_path: string;
  dataConverter: ReplayOptions['dataConverter'];
  /** How often it looks whether Temporal still knows a current version. Milliseconds. */
  watch_ms?: number;
}

/** What `admin deploy` does with the version of this worker, for one machine without an operator (rules 24.21). */
export class OwnVersion {
  private readonly loop = new Loop(() => this.round());
  /** Epoch milliseconds. */
  private readonly began = Date.now();
  private chosen = false;
  private drained = false;
  /** Only the first of several failures in a row is logged. */
  private is_failing = false;

  constructor(private readonly services: OwnVersionServices) {}

  /**
   * Makes the version current, then moves open workflows of other versions to it in the background. Where that does not
   * succeed within WAIT_MS it logs an error and goes on trying in the background: workers of the current one continue.
   */
  async makeCurrent(): Promise<void> {
    const { log, build } = this.services;
    const { signal } = this.loop;
    const give_up = performance.now() + WAIT_MS;
    for (let error = await this.tryOnce(); error !== undefined; error = await this.tryOnce()) {
      if (signal.aborted) return;
      if (performance.now() > give_up) {
        log.error({ err: error, version: build.version }, 'cannot make this version current');
        return this.loop.start(LATER_MS);
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
    this.chosen = true;
    this.loop.start();
  }

  /** Resolves when the move has ended. */
  async stop(): Promise<void> {
    await this.loop.stop();
  }

  private async round(): Promise<number> {
    const { db, deployment, build, watch_ms = WATCH_MS } = this.services;
    if (!this.chosen) {
      const current = await findCurrentBuild(db).catch(() => undefined);
      // Another version was made current meanwhile: its worker moves open workflows.
      this.drained = current !== undefined && current.version !== build.version && current.since > this.began;
      this.chosen = this.drained || (await this.tryOnce()) === undefined;
      if (!this.chosen) return LATER_MS;
    }
    const known = await findCurrentVersion(deployment).catch(() => build.version);
    // Likewise before the move is tried again.
    this.drained ||= (known !== undefined && known !== build.version) || (await this.drain());
    // A Temporal that has lost its data knows no current version, so that no new workflow begins.
    if (known === undefined) {
      const current = await findCurrentBuild(db).catch(() => undefined);
      if (current?.version === build.version) await this.tryOnce();
    }
    return watch_ms;
  }

  /** Returns why the version is not current: for Temporal, and in the record, which gives its workers the leases. */
  private async tryOnce(): Promise<unknown> {
    const { db, deployment, build } = this.services;
    try {
      await makeVersionCurrent(deployment, build.version);
      await setCurrentVersion(db, build.version, build);
      return undefined;
    } catch (error) {
      return error ?? new Error('unknown');
    }
  }

  /** `false`: it is to be tried again, as some may not have been looked at. */
  private async drain(): Promise<boolean> {
    const { deployment, log, build, bundle_path, dataConverter } = this.services;
    const { signal } = this.loop;
    try {
      const { moved, stay } = await drainOthers(deployment, build.version, { bundle_path, dataConverter, signal });
      if (moved > 0) log.info({ moved, version: build.version }, 'moved open workflows to this version');
      for (const { workflow_id, problem } of stay) {
        log.error({ workflow_id, problem }, 'this version cannot continue an open workflow: start its own version');
      }
      return true;
    } catch (err) {
      if (!this.is_failing) log.error({ err }, 'cannot move open workflows; trying again');
      this.is_failing = true;
      return false;
    }
  }
}
