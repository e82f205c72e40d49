import type { Database } from '../db/connection';
import { LIMIT, unfinishedFollowUps, unfinishedOrders, overdueDeliveries } from '../db/unfinished';
import type { Logger } from '../log';
import type { connectTemporal } from '../temporal/connect';
import { grpcStatusOf } from '../temporal/grpc-status';
import type { Workflows } from '../temporal/workflows';

interface Services {
  db: Database;
  client: ReturnType<typeof connectTemporal>;
  workflows: Pick<Workflows, 'orders' | 'follow_ups' | 'deliveries'>;
  log: Logger;
}

/** A server that does not answer must not delay the end of the process. */
const DEADLINE_MS = 5_000;

/** Whether Temporal itself is unreachable, not just this order. */
function isTemporalUnavailable(error: unknown): boolean {
  return ['deadline_exceeded', 'unavailable'].includes(grpcStatusOf(error) ?? '');
}

/** Rows changed in the last minute are left alone: their workflow is still at work. Milliseconds. */
const SETTLE_MS = 60_000;
const EVERY_MS = 60_000;

/**
 * Restarts work that the database knows of and Temporal has lost. Temporal keeps an update in memory until its first task is done:
 * if server and worker die together it is lost, even if its row is already written. Each round starts a workflow for such orders,
 * follow-up orders and webhooks, or signals the one they have; all of it is safe to repeat.
 */
export class Recovery {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  /** Epoch ms; older orders were checked in an earlier round. 0: check all. */
  private since = 0;
  private stopping = false;

  constructor(private readonly services: Services) {}

  /** Runs a round now, then one every minute. */
  start(): void {
    this.timer = setInterval(() => this.next(), EVERY_MS);
    this.next();
  }

  /** Begins nothing new, and resolves when the current round is over. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    await this.round;
  }

  /** One round; `now` in epoch milliseconds. Throws the first failure; the next round tries again. */
  async recover(now: number): Promise<void> {
    const { db, workflows, log } = this.services;
    const before = now - SETTLE_MS;
    const follow_ups = await unfinishedFollowUps(db, before);
    const failures = await this.each(follow_ups, (follow_up) => workflows.follow_ups.start(follow_up));
    const orders = await unfinishedOrders(db, { since: this.since, before });
    failures.push(...(await this.each(orders, (order) => workflows.orders.resume(order))));
    const deliveries = await overdueDeliveries(db, before);
    failures.push(...(await this.each(deliveries, (delivery) => workflows.deliveries.start(delivery))));
    if (failures.length > 0) throw failures[0];
    // The query is limited: the next round starts at the last row.
    this.since = orders.length < LIMIT ? before : Date.parse(orders.at(-1)!.touched);
    log.debug(
      { follow_ups: follow_ups.length, orders: orders.length, deliveries: deliveries.length },
      'recovery round done',
    );
  }

  /**
   * Goes one by one, as nothing waits for the result, and stops when the process ends. Returns the failures: one bad item does not
   * stop the rest, an unreachable Temporal does.
   */
  private async each<Item>(items: Item[], tell: (item: Item) => Promise<void>): Promise<unknown[]> {
    const failures: unknown[] = [];
    for (const item of items) {
      if (this.stopping || failures.some(isTemporalUnavailable)) break;
      await this.services.client
        .withDeadline(Date.now() + DEADLINE_MS, () => tell(item))
        .catch((error: unknown) => failures.push(error));
    }
    return failures;
  }

  private next(): void {
    const round = async () => {
      if (!this.stopping) await this.recover(Date.now());
    };
    this.round = this.round
      .then(round)
      .catch((error: unknown) => this.services.log.warn({ err: error }, 'recovery round failed'));
  }
}
