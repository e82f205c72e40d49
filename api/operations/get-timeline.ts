import { findTimeline } from '../../src/db/timeline';
import { decimalAmount } from '../../src/domain/currency';
import { timelineEntries } from '../../src/domain/timeline';
import { byInstant, deliveryWait, pausedDelivery, waitsOf, watchWait } from '../../src/domain/waits';
import { clockOf } from '../clock';
import { orderOfPath, type MerchantOperation, type Services } from '../merchant';
import { instant } from '../present';

/** The timeline of an order and what it waits for, computed from the record (rules 23.1). */
export const getTimeline =
  (services: Services): MerchantOperation<'getTimeline'> =>
  async (context, { params }) => {
    const order = await orderOfPath(services, context, params.order_id);
    const { follow_ups, attempts, clock_moves, orders, deliveries, watches } = await findTimeline(services.db, order);
    const now = clockOf(order).now();
    const waits = [
      ...orders.flatMap((one) => waitsOf(one, amountInWords)),
      ...deliveries.flatMap((delivery) => deliveryWait(delivery) ?? []),
      ...watches.map(watchWait),
    ];
    return {
      entries: timelineEntries({ order, follow_ups, attempts, clock_moves }, amountInWords).map((entry) => ({
        ...entry,
        at: instant(entry.at),
      })),
      next: [
        // An action that is due is being done now.
        ...waits.toSorted(byInstant).map(({ at, event, text }) => ({ at: instant(Math.max(at, now)), event, text })),
        ...deliveries.flatMap((delivery) => pausedDelivery(delivery) ?? []),
      ],
    };
  };

const amountInWords = (amount: number, currency: string) => `${decimalAmount(amount, currency)} ${currency}`;
