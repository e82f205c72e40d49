import { findClockWaits } from '../src/db/sandbox-clocks/clock-waits';
import type { KeyedWait, StartedClock } from '../src/domain/sandbox-clock';
import { deliveryWait, linkWait, minorUnitsInWords, waitsOf, watchWait, type Wait } from '../src/domain/waits';
import type { Services } from './services';

/** A wait of an object of a clock, and how the object's workflow learns that the clock was moved. */
interface ClockWait extends Wait, KeyedWait {
  moveClock: (offset_ms: number) => Promise<void>;
  /** Only of a question to the processor: asks it now. */
  poll?: () => Promise<void>;
}

/** Everything that waits by the clock, the next first. */
export async function findWaits({ db, workflows }: Services, { clock_id, project_id }: StartedClock, now: number) {
  const { offset_ms, payment_link, orders, follow_ups, deliveries, watches } = await findClockWaits(db, clock_id);
  const waits: ClockWait[] = [];
  const add = (key: string, wait: Wait | undefined, moveClock: ClockWait['moveClock'], poll?: () => Promise<void>) => {
    if (wait === undefined) return;
    waits.push({ ...wait, key: `${key} ${wait.event} ${wait.at}`, moveClock, ...(poll && { poll }) });
  };
  if (payment_link !== undefined) {
    const link = { id: clock_id, project_id };
    add(clock_id, linkWait(payment_link), () => workflows.payment_links.moveClock(link));
  }
  for (const order of orders) {
    const { id: order_id } = order;
    const moveClock = () => workflows.orders.moveClock({ order_id, project_id });
    const poll = () => workflows.orders.requestPoll(order_id);
    for (const wait of waitsOf(order, minorUnitsInWords)) add(order_id, wait, moveClock, poll);
  }
  for (const { order, ...input } of follow_ups) {
    const moveClock = (to: number) => workflows.follow_ups.moveClock({ ...input, clock_offset_ms: to });
    const poll = () => workflows.follow_ups.requestPoll(order.id);
    for (const wait of waitsOf(order, minorUnitsInWords)) add(order.id, wait, moveClock, poll);
  }
  for (const delivery of deliveries) {
    const key = `${delivery.order_id}:${delivery.n}`;
    add(key, deliveryWait(delivery), () => workflows.deliveries.moveClock(delivery));
  }
  for (const watch of watches) {
    const moveClock = (to: number) => workflows.follow_ups.moveReversalClock(watch, { offset_ms: to, now: now + to });
    const poll = () => workflows.follow_ups.resumeWatch(watch);
    add(watch.transaction_id, watchWait(watch), moveClock, poll);
  }
  return { offset_ms, waits: waits.toSorted((a, b) => a.at - b.at) };
}
