import { orderStatus } from '../../src/domain/order';
import type { TransactionStatus } from '../../src/domain/transitions';
import type { Invariant } from './invariant';
import { orderHistories, type OrderHistory } from './statuses';

export const webhooks: Invariant = {
  name: 'webhooks',
  title: 'Every change of the status of an order has one delivery, if its merchant has an address.',
  async violations(place) {
    return (await orderHistories(place)).flatMap((order) => {
      const { id, status, deliveries, has_address } = order;
      const [least, most] = statusChanges(order);
      if (!has_address || (deliveries >= least && deliveries <= most)) return [];
      return [`order ${id} is ${status} after ${least} changes, with ${deliveries} deliveries`];
    });
  },
};

/**
 * How often the status of an order has changed, at least and at most: an order that expires or is cancelled after a
 * decline may have ended with that decline, or later.
 */
function statusChanges({ status, attempts_max, ended, transactions, events }: OrderHistory): [number, number] {
  const ids = (transactions ?? []).map(({ id }) => id);
  const now = new Map<string, TransactionStatus>();
  const count = (endsWithLastEvent: boolean) => {
    let [changes, current, was_accepted] = [0, 'new', false];
    for (const [n, { transaction_id, event }] of (events ?? []).entries()) {
      now.set(transaction_id, event);
      was_accepted ||= event === 'accepted';
      const isLast = n === events!.length - 1;
      const computed = orderStatus({
        transactions: ids.flatMap((id) => now.get(id) ?? []),
        was_accepted,
        attempts_max,
        ...(ended !== null && isLast && endsWithLastEvent && { ended }),
      });
      if (computed !== current) changes += 1;
      current = computed;
    }
    now.clear();
    return current === status ? changes : changes + 1;
  };
  const counts = [count(true), count(false)];
  return [Math.min(...counts), Math.max(...counts)];
}
