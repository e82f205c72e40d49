import type { Client } from '@temporalio/client';
import { unfinishedFollowUps, unfinishedOrders, unsentDeliveries } from '../src/db/unfinished';
import { ORDER_WORKFLOW, orderStart, recordChanged } from '../workflows/messages';
import { startFollowUp } from './follow-ups';
import type { Services } from './services';
import { startDelivery } from './webhooks';

/** A server that does not answer must not hold up the end of the process. */
const inTime = (client: Client, call: () => Promise<unknown>) => client.withDeadline(Date.now() + DEADLINE_MS, call);
const DEADLINE_MS = 5_000;

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

  constructor(private readonly services: Pick<Services, 'db' | 'client' | 'log'>) {}

  /** A first round now, and one every minute. */
  start(): void {
    this.timer = setInterval(() => this.next(), EVERY_MS);
    this.next();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.round;
  }

  /** One round; `now` in epoch milliseconds. Throws when a server does not answer: the next round looks again. */
  async look(now: number): Promise<void> {
    const { db, client, log } = this.services;
    const before = now - SETTLE_MS;
    const follow_ups = await unfinishedFollowUps(db, before);
    for (const follow_up of follow_ups) await inTime(client, () => startFollowUp(client, follow_up));
    const orders = await unfinishedOrders(db, { since: this.since, before });
    for (const order of orders) {
      const start = { ...orderStart(order), workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const, signal: recordChanged };
      await inTime(client, () => client.workflow.signalWithStart(ORDER_WORKFLOW, start));
    }
    const deliveries = await unsentDeliveries(db, before);
    for (const delivery of deliveries) await inTime(client, () => startDelivery(client, delivery));
    this.since = before;
    log.debug({ follow_ups: follow_ups.length, orders: orders.length, deliveries: deliveries.length }, 'looked after what is not finished');
  }

  private next(): void {
    this.round = this.round.then(() => this.look(Date.now())).catch((error: unknown) => this.services.log.warn({ err: error }, 'the caretaker could not look'));
  }
}
