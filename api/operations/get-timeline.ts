import type { z } from 'zod';
import type { timelineSchema } from '../../src/contract/timeline';
import type { Database } from '../../src/db/query';
import { moneyOf, type StoredOrder } from '../../src/db/orders/stored-order';
import { findTimeline, type StoredTimeline } from '../../src/db/orders/timeline';
import { endedDeliveriesOf, webhookProspects } from '../../src/db/webhooks/stored-deliveries';
import { decimalAmount } from '../../src/domain/currency';
import { forecastOf } from '../../src/domain/forecast';
import { DAY_MS } from '../../src/domain/period';
import { TIMELINE_START, pageOfTimeline, timelineEntries, type TimelinePlace } from '../../src/domain/timeline';
import { byInstant, deliveryWait, pausedDelivery, waitsOf, watchWait } from '../../src/domain/waits';
import { validationError } from '../../src/errors';
import { closingOrderId, transactionId } from '../../src/ids';
import { currentTimeOf } from '../../src/time';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { formatInstant } from '../present/format';

/** Maximum number of follow-up orders, and of webhooks, in `next`. */
const WAITS_MAX = 100;

/** A page of the timeline of an order with the events it waits for, computed from the record (rules 23.1, 23.10). */
export const getTimeline =
  (services: MerchantServices): MerchantOperation<'getTimeline'> =>
  async (context, { params, query: { limit, cursor, forecast } }) => {
    const from = cursor === undefined ? TIMELINE_START : placeOf(cursor);
    const order = await requireRequestedOrder(services, context, params.order_id);
    const now = currentTimeOf(order);
    const readRecord = async (db: Database) => {
      const found = await findTimeline(db, order, { limit, from, waits_max: WAITS_MAX });
      const { retention_days } = services;
      return {
        record: found,
        future: forecast ? await futureOf({ db, retention_days }, order, found, now) : undefined,
      };
    };
    const { record, future } = await services.bulk.read(order.project_id, readRecord, context.signal);
    const page = pageOfTimeline(timelineEntries({ order, ...record }, amountInWords), { limit, from });
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
      ...(future && { forecast: future }),
      ...(page.next && { cursor: cursorOf(page.next) }),
    };
  };

/** What will happen to the order if nobody acts, as the answer shows it (rules 23.12). */
async function futureOf(
  { db, retention_days }: Pick<MerchantServices, 'db' | 'retention_days'>,
  order: StoredOrder,
  { orders, deliveries, watches }: StoredTimeline,
  now: number,
): Promise<NonNullable<z.infer<typeof timelineSchema>['forecast']>> {
  const snapshot = orders.find(({ id }) => id === order.id);
  if (snapshot === undefined) return [];
  const accepted = order.transactions.find(({ status }) => status === 'accepted');
  const money = accepted && moneyOf(accepted);
  const prospects = await webhookProspects(db, order.id);
  const ended_deliveries = await endedDeliveriesOf(db, order.id, WAITS_MAX);
  const attempts_kept_ms = retention_days.webhook_attempts * DAY_MS + order.clock_offset_ms;
  const webhooks = { deliveries, ended_deliveries, attempts_kept_ms, ...prospects };
  const record = { order, snapshot, money, watches, ...webhooks, now };
  const ids = { closing: closingOrderId, transaction: transactionId };
  return forecastOf(record, ids, amountInWords).map((entry) => ({ ...entry, at: formatInstant(entry.at) }));
}

const amountInWords = (amount: number, currency: string) => `${decimalAmount(amount, currency)} ${currency}`;

const cursorOf = ({ at, skip }: TimelinePlace) => `${at}-${skip}`;

/** An instant, and the entries of it that were on the pages before: so many more than the page are read. */
const CURSOR = /^(\d{1,13})-(\d{1,4})$/;

/** The place that a cursor names. Throws a ValidationError for a text that is no cursor. */
function placeOf(cursor: string): TimelinePlace {
  const [, at, skip] = CURSOR.exec(cursor) ?? [];
  if (at === undefined) throw validationError('cursor', 'Expected the cursor of the page before.');
  return { at: Number(at), skip: Number(skip) };
}
