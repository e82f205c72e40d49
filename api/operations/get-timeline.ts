import { findTimeline } from '../../src/db/orders/timeline';
import { decimalAmount } from '../../src/domain/currency';
import { TIMELINE_START, pageOfTimeline, timelineEntries, type TimelinePlace } from '../../src/domain/timeline';
import { byInstant, deliveryWait, pausedDelivery, waitsOf, watchWait } from '../../src/domain/waits';
import { validationError } from '../../src/errors';
import { clockOf } from '../http/clock';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { formatInstant } from '../present/order';

/** Maximum number of follow-up orders, and of webhooks, in `next`. */
const WAITS_MAX = 100;

/** A page of the timeline of an order with the events it waits for, computed from the record (rules 23.1, 23.10). */
export const getTimeline =
  (services: MerchantServices): MerchantOperation<'getTimeline'> =>
  async (context, { params, query: { limit, cursor } }) => {
    const from = cursor === undefined ? TIMELINE_START : placeOf(cursor);
    const order = await requireRequestedOrder(services, context, params.order_id);
    const record = await findTimeline(services.db, order, { limit, from, waits_max: WAITS_MAX });
    const page = pageOfTimeline(timelineEntries({ order, ...record }, amountInWords), { limit, from });
    const now = clockOf(order).now();
    const waits = [
      ...record.orders.flatMap((one) => waitsOf(one, amountInWords)),
      ...record.deliveries.flatMap((delivery) => deliveryWait(delivery) ?? []),
      ...record.watches.map(watchWait),
    ];
    return {
      entries: page.entries.map((entry) => ({ ...entry, at: formatInstant(entry.at) })),
      next: [
        // An action that is due is being done now.
        ...waits
          .toSorted(byInstant)
          .map(({ at, event, text }) => ({ at: formatInstant(Math.max(at, now)), event, text })),
        ...record.deliveries.flatMap((delivery) => pausedDelivery(delivery) ?? []),
      ],
      ...(page.next && { cursor: cursorOf(page.next) }),
    };
  };

const amountInWords = (amount: number, currency: string) => `${decimalAmount(amount, currency)} ${currency}`;

const cursorOf = ({ at, skip }: TimelinePlace) => `${at}-${skip}`;

/** The place that a cursor names. Throws a ValidationError for a text that is no cursor. */
function placeOf(cursor: string): TimelinePlace {
  const [, at, skip] = /^(\d{1,13})-(\d{1,6})$/.exec(cursor) ?? [];
  if (at === undefined) throw validationError('cursor', 'Expected the cursor of the page before.');
  return { at: Number(at), skip: Number(skip) };
}
