import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/connection';
import { findCurrentBuild, setCurrentVersion, type Build } from '../db/current-build';
import type { Logger } from '../log';
import { makeVersionCurrent, type WorkerDeployment } from '../temporal/deployment';
import { drainOthers, type ReplayOptions } from '../temporal/open-histories';

/** Temporal knows a version soon after its first polls. Milliseconds. */
const WAIT_MS = 30_000;
const AGAIN_MS = 250;
const LATER_MS = 10_000;

interface OwnVersionServices {
  db: Database;
  deployment: WorkerDeployment;
  log: Logger;
  build: Build;
  /** The workflows that this worker runs. */
  bundle_path: string;
  dataConverter: ReplayOptions['dataConverter'];
}

/** What `admin deploy` does with the version of this worker, for one machine without an operator (rules 24.21). */
export class OwnVersion {
  private readonly stopping = new AbortController();
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly services: OwnVersionServices) {}

  /**
   * Makes the version current, then moves open workflows of other versions to it in the background. Where that does not
   * succeed within WAIT_MS it logs an error and goes on trying in the background: workers of the current one continue.
   */
  async makeCurrent(): Promise<void> {
    const { log, build } = this.services;
    const { signal } = this.stopping;
    const began = Date.now();
    const give_up = performance.now() + WAIT_MS;
    for (let error = await this.tryOnce(); error !== undefined; error = await this.tryOnce()) {
      if (signal.aborted) return;
      if (performance.now() > give_up) {
        log.error({ err: error, version: build.version }, 'cannot make this version current');
        this.working = this.goOn(began);
        return;
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
    this.working = this.drain();
  }

  /** Tries until it succeeds, or another version was made current after an instant, epoch milliseconds. */
  private async goOn(began: number): Promise<void> {
    const { db, build } = this.services;
    const { signal } = this.stopping;
    do {
      await sleep(LATER_MS, undefined, { signal }).catch(() => undefined);
      const current = await findCurrentBuild(db).catch(() => undefined);
      const is_replaced = current !== undefined && current.version !== build.version && current.since > began;
      if (signal.aborted || is_replaced) return;
    } while ((await this.tryOnce()) !== undefined);
    await this.drain();
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

  /** Resolves when the move has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.working;
  }

  private async drain(): Promise<void> {
    const { deployment, log, build, bundle_path, dataConverter } = this.services;
    const { signal } = this.stopping;
    try {
      const { moved, stay } = await drainOthers(deployment, build.version, { bundle_path, dataConverter, signal });
      if (moved > 0) log.info({ moved, version: build.version }, 'moved open workflows to this version');
      for (const { workflow_id, problem } of stay) {
        log.error({ workflow_id, problem }, 'this version cannot continue an open workflow: start its own version');
      }
    } catch (err) {
      log.error({ err }, 'cannot move open workflows');
    }
  }
}
