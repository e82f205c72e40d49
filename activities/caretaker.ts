import { isGrpcServiceError } from '@temporalio/client';
import { LIMIT, unfinishedFollowUps, unfinishedOrders, unsentDeliveries } from '../src/db/unfinished';
import { ORDER_WORKFLOW, orderStart, recordChanged, type OrderWorkflow } from '../workflows/messages';
import { startFollowUp } from './follow-ups';
import type { Services } from './services';
import { startDelivery } from './webhooks';

/** A server that does not answer must not hold up the end of the process. */
const DEADLINE_MS = 5_000;

/** Whether it is not the single order that fails: the deadline is over, or nobody is there. */
function isAway(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return isGrpcServiceError(cause) && [4, 14].includes(Number(cause.code));
}

/** What was touched so long ago would be done, had its workflow heard of it. Milliseconds. */
const SETTLE_MS = 60_000;
const EVERY_MS = 60_000;

/**
 * Looks after what the record knows and Temporal does not. An update lives in Temporal's memory until its first task is done: a
 * server that is killed together with the worker forgets it, also when the worker has written its row by then. Each round gives
 * such orders, follow-up orders and webhooks their workflow again, or tells the one they have; all of it is safe to repeat.
 */
export class Caretaker {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  /** Everything before has been looked at; at first, whatever was left behind when nobody was there. */
  private since = 0;
  private stopping = false;

  constructor(private readonly services: Pick<Services, 'db' | 'client' | 'log'>) {}

  /** A first round now, and one every minute. */
  start(): void {
    this.timer = setInterval(() => this.next(), EVERY_MS);
    this.next();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    await this.round;
  }

  /** One round; `now` in epoch milliseconds. Throws when a server does not answer: the next round looks again. */
  async look(now: number): Promise<void> {
    const { db, client, log } = this.services;
    const before = now - SETTLE_MS;
    const follow_ups = await unfinishedFollowUps(db, before);
    const failures = await this.each(follow_ups, (follow_up) => startFollowUp(client, follow_up));
    const orders = await unfinishedOrders(db, { since: this.since, before });
    failures.push(
      ...(await this.each(orders, async (order) => {
        await client.workflow.signalWithStart<OrderWorkflow>(ORDER_WORKFLOW, { ...orderStart(order), workflowIdReusePolicy: 'ALLOW_DUPLICATE', signal: recordChanged });
      })),
    );
    const deliveries = await unsentDeliveries(db, before);
    failures.push(...(await this.each(deliveries, (delivery) => startDelivery(client, delivery))));
    if (failures.length > 0) throw failures[0];
    // Of more than one round looks after, the rest is for the next.
    this.since = orders.length < LIMIT ? before : Date.parse(orders.at(-1)!.touched);
    log.debug({ follow_ups: follow_ups.length, orders: orders.length, deliveries: deliveries.length }, 'looked after what is not finished');
  }

  /**
   * One after the other, as nobody waits for it; none any more once the process ends. Answers what failed: one that cannot be told
   * does not keep the others from it, a server that is away does.
   */
  private async each<Item>(items: Item[], tell: (item: Item) => Promise<void>): Promise<unknown[]> {
    const failures: unknown[] = [];
    for (const item of items) {
      if (this.stopping || failures.some(isAway)) break;
      await this.services.client.withDeadline(Date.now() + DEADLINE_MS, () => tell(item)).catch((error: unknown) => failures.push(error));
    }
    return failures;
  }

  private next(): void {
    const round = async () => {
      if (!this.stopping) await this.look(Date.now());
    };
    this.round = this.round.then(round).catch((error: unknown) => this.services.log.warn({ err: error }, 'the caretaker could not look'));
  }
}
