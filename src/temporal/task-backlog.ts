import type { Client } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { countWaitingTasks } from './task-queues';

interface Limits {
  /** Tasks that may wait for a worker. */
  tasks_max: number;
  /** Pause between two looks, in milliseconds. */
  look_every_ms: number;
  /**
   * If the number of waiting tasks has not fallen for so many milliseconds, as without a worker, untilShort no longer
   * waits, until it falls again. Longer than a worker needs to restart, and than Temporal waits for a task that a worker
   * has lost.
   */
  stands_still_ms: number;
}

/** A worker on two cores takes about two seconds for 100 tasks. */
const LIMITS: Limits = { tasks_max: 100, look_every_ms: 500, stands_still_ms: 60_000 };

/**
 * The workflow tasks of payments that wait for a worker. Code that starts many workflows calls untilShort in between:
 * otherwise requests of merchants and customers would wait behind all of them.
 */
export class TaskBacklog {
  private tasks = Number.POSITIVE_INFINITY;
  /** When they were few, or got fewer. */
  private progress_at = 0;
  private looked_at = Number.NEGATIVE_INFINITY;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly client: Client,
    private readonly limits = LIMITS,
  ) {}

  /**
   * Resolves once few tasks wait, or if they do not get fewer; at once when Temporal does not report their number.
   */
  async untilShort(): Promise<void> {
    const { tasks_max, look_every_ms, stands_still_ms } = this.limits;
    for (;;) {
      await (this.looking ??= this.look().finally(() => (this.looking = undefined)));
      if (this.tasks <= tasks_max || performance.now() - this.progress_at > stands_still_ms) return;
      await sleep(look_every_ms);
    }
  }

  private async look(): Promise<void> {
    const now = performance.now();
    if (now - this.looked_at < this.limits.look_every_ms) return;
    this.looked_at = now;
    const before = this.tasks;
    this.tasks = await countWaitingTasks(this.client).catch(() => 0);
    if (this.tasks <= this.limits.tasks_max || this.tasks < before) this.progress_at = now;
  }
}
