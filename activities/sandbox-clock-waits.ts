import { findClockWaits } from '../src/db/sandbox-clocks/clock-waits';
import type { KeyedWait, StartedClock } from '../src/domain/sandbox-clock';
import { deliveryWait, linkWait, minorUnitsInWords, waitsOf, watchWait, type Wait } from '../src/domain/waits';
import type { ActivityServices } from './services';

/** A wait of an object that uses a clock, and the call that signals its workflow after an advance. */
interface ClockWait extends Wait, KeyedWait {
  advanceClock: (offset_ms: number) => Promise<void>;
  /** Only for a wait for the processor: polls it now. */
  poll?: () => Promise<void>;
}

/** All waits by the clock, the next first. */
export async function findWaits(
  { db, workflows }: ActivityServices,
  { clock_id, project_id }: StartedClock,
  now: number,
) {
  const { offset_ms, payment_link, orders, follow_ups, deliveries, watches } = await findClockWaits(db, clock_id);
  const waits: ClockWait[] = [];
  const add = (
    key: string,
    wait: Wait | undefined,
    advanceClock: ClockWait['advanceClock'],
    poll?: () => Promise<void>,
  ) => {
    if (wait === undefined) return;
    waits.push({ ...wait, key: `${key} ${wait.event} ${wait.at}`, advanceClock, ...(poll && { poll }) });
  };
  if (payment_link !== undefined) {
    const link = { id: clock_id, project_id };
    add(clock_id, linkWait(payment_link), () => workflows.payment_links.advanceClock(link));
  }
  for (const order of orders) {
    const { id: order_id } = order;
    const advanceClock = () => workflows.orders.advanceClock({ order_id, project_id });
    const poll = () => workflows.orders.requestPoll(order_id);
    for (const wait of waitsOf(order, minorUnitsInWords)) add(order_id, wait, advanceClock, poll);
  }
  for (const { order, ...input } of follow_ups) {
    const advanceClock = (to: number) => workflows.follow_ups.advanceClock({ ...input, clock_offset_ms: to });
    const poll = () => workflows.follow_ups.requestPoll(order.id);
    for (const wait of waitsOf(order, minorUnitsInWords)) add(order.id, wait, advanceClock, poll);
  }
  for (const delivery of deliveries) {
    const key = `${delivery.order_id}:${delivery.n}`;
    add(key, deliveryWait(delivery), () => workflows.deliveries.advanceClock(delivery));
  }
  for (const watch of watches) {
    const advanceClock = (to: number) =>
      workflows.follow_ups.advanceReversalClock(watch, { offset_ms: to, now: now + to });
    const poll = () => workflows.follow_ups.resumeWatch(watch);
    add(watch.transaction_id, watchWait(watch), advanceClock, poll);
  }
  return { offset_ms, waits: waits.toSorted((a, b) => a.at - b.at) };
}
