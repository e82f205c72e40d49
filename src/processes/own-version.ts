import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/connection';
import { setCurrentVersion, type Build } from '../db/current-build';
import { ServiceError } from '../errors';
import type { Logger } from '../log';
import type { TemporalClient } from '../temporal/connect';
import { makeVersionCurrent } from '../temporal/deployment';
import { drainOthers, type ReplayOptions } from '../temporal/open-histories';

/** Temporal knows a version soon after its first polls. Milliseconds. */
const WAIT_MS = 30_000;
const AGAIN_MS = 250;

interface OwnVersionServices {
  db: Database;
  client: TemporalClient;
  log: Logger;
  build: Build;
  /** The workflows that this worker runs. */
  bundle_path: string;
  dataConverter: ReplayOptions['dataConverter'];
}

/** What `admin deploy` does with the version of this worker, for one machine without an operator (rules 24.21). */
export class OwnVersion {
  private readonly stopping = new AbortController();
  private draining: Promise<void> = Promise.resolve();

  constructor(private readonly services: OwnVersionServices) {}

  /**
   * Makes the version current, then moves open workflows of other versions to it in the background. Logs an error where
   * Temporal refuses the version: workers of the current one continue.
   */
  async makeCurrent(): Promise<void> {
    const { db, client, log, build } = this.services;
    const give_up = performance.now() + WAIT_MS;
    for (;;) {
      try {
        await makeVersionCurrent(client, build.version);
        await setCurrentVersion(db, build.version, build);
        break;
      } catch (error) {
        if (!(error instanceof ServiceError) || performance.now() > give_up || this.stopping.signal.aborted) {
          log.error({ err: error, version: build.version }, 'cannot make this version current');
          return;
        }
      }
      await sleep(AGAIN_MS);
    }
    this.draining = this.drain().catch((err: unknown) => log.error({ err }, 'cannot move open workflows'));
  }

  /** Resolves when the move has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.draining;
  }

  private async drain(): Promise<void> {
    const { client, log, build, bundle_path, dataConverter } = this.services;
    const { signal } = this.stopping;
    const { moved, stay } = await drainOthers(client, build.version, { bundle_path, dataConverter, signal });
    if (moved > 0) log.info({ moved, version: build.version }, 'moved open workflows to this version');
    for (const { workflow_id, problem } of stay) {
      log.error({ workflow_id, problem }, 'this version cannot continue an open workflow: start its own version');
    }
  }
}
