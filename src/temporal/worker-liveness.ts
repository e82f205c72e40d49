import type { Logger } from '../log';
import { Loop } from '../loop';
import { gauge } from '../metrics/recorder';
import { workflowThreadSilence } from './workflow-threads';

/**
 * How long a worker may work without an answer, in milliseconds. Temporal answers a poll of an empty queue after 60
 * seconds, and a worker begins all its polls at once: without tasks the answers come once a minute. An activation is
 * interrupted after 5 seconds. `look_every_ms`: the pause between two looks.
 */
const LIMITS = { polls_ms: 90_000, thread_ms: 30_000, look_every_ms: 5_000 };

/** The SDK's count of polls that ended, and of those that failed. */
const ENDED = /^temporal_long_request_latency_seconds_count\{[^}]*operation="Poll[^}]*\} (\d+)/gm;
const FAILED = /^temporal_long_request_failure_total\{[^}]*operation="Poll[^}]*\} (\d+)/gm;

/** How many polls Temporal has answered, from the metrics of the SDK. */
function answeredPolls(sdk_metrics: string): number {
  const sum = (lines: RegExp) =>
    [...sdk_metrics.matchAll(lines)].reduce((total, [, value]) => total + Number(value), 0);
  return sum(ENDED) - sum(FAILED);
}

/**
 * Whether the workers of this process can work, as far as a restart can mend it: a Temporal that answers pings answers
 * their polls too, and their workflow threads do not stand still (rules 24.6). Logs each change between live and not
 * live.
 */
export class WorkerLiveness {
  private readonly loop = new Loop(() => this.look());
  private answered = 0;
  private answered_at = performance.now();
  /** Before it, Temporal itself did not answer. */
  private reached_since = performance.now();
  private is_live = true;

  constructor(
    private readonly services: {
      log: Logger;
      /** The metrics of the SDK. */
      readMetrics: () => Promise<string>;
      /** Rejects when Temporal does not answer. */
      pingTemporal: () => Promise<void>;
    },
    private readonly limits: typeof LIMITS = LIMITS,
  ) {
    gauge('payments_workflow_thread_busy_seconds', () => [{ value: workflowThreadSilence() / 1_000, labels: {} }]);
  }

  /** Only of a process that polls: one that does not has no answers to wait for. */
  start(): void {
    this.answered_at = performance.now();
    gauge('payments_temporal_poll_answer_age_seconds', () => [{ value: this.pollSilence / 1_000, labels: {} }]);
    this.loop.start();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
  }

  /** Why the worker is not live; `undefined` while it is. */
  problem(): string | undefined {
    const thread = workflowThreadSilence();
    if (thread > this.limits.thread_ms) return `a workflow thread has not answered for ${seconds(thread)}`;
    const polls = Math.min(this.pollSilence, performance.now() - this.reached_since);
    return polls > this.limits.polls_ms ? `Temporal has answered no poll for ${seconds(polls)}` : undefined;
  }

  private get pollSilence(): number {
    return performance.now() - this.answered_at;
  }

  private async look(): Promise<number> {
    const { log, readMetrics, pingTemporal } = this.services;
    const [answered] = await Promise.all([
      // Without the metrics nothing is known of the polls, and nothing is blamed on Temporal.
      readMetrics().then(answeredPolls, () => undefined),
      // A restarted worker could not connect to a Temporal that is away.
      pingTemporal().catch(() => (this.reached_since = performance.now())),
    ]);
    if (answered !== this.answered) this.answered_at = performance.now();
    this.answered = answered ?? this.answered;
    const cause = this.problem();
    if (cause !== undefined && this.is_live) log.error({ cause }, 'the worker is not live');
    if (cause === undefined && !this.is_live) log.info('the worker is live again');
    this.is_live = cause === undefined;
    return this.limits.look_every_ms;
  }
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 1_000)} s`;
