import {
  endPaymentLink,
  findPaymentLink,
  insertPaymentLink,
  loadPaymentLink,
  paymentLinkHasOrder,
} from '../src/db/payment-links';
import type { OrderRecord } from '../src/domain/order-record';
import { requireLinkMayEnd, type PaymentLinkRecord } from '../src/domain/payment-link';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { preconditionFailed } from '../src/errors';
import type { CreateOrderInput, CreatePaymentLinkInput, PayThroughLinkInput } from '../workflows/messages';
import { withFailures } from './failure';
import type { AtTime, Services } from './services';

/** Activities of payment links. */
export function paymentLinkActivities({ db, workflows }: Pick<Services, 'db' | 'workflows'>) {
  return withFailures({
    /** Writes a new link. Throws ServiceUnavailable when it does not exist and the request came too late. */
    createPaymentLink: ({ payment_link, period, now, ...awaited }: CreatePaymentLinkInput & AtTime) =>
      insertPaymentLink(db, payment_link, { created: now, expires_at: now + period, ...awaited }),

    /** The recorded link; null when there is none, RecordMissing for a link that `must_exist`. */
    findPaymentLink: async ({
      payment_link_id,
      must_exist = false,
    }: {
      payment_link_id: string;
      must_exist?: boolean;
    }): Promise<PaymentLinkRecord | null> =>
      must_exist ? await loadPaymentLink(db, payment_link_id) : ((await findPaymentLink(db, payment_link_id)) ?? null),

    /** Whether an attempt of the link has made this order. */
    linkHasOrder: (input: { payment_link_id: string; order_id: string }) => paymentLinkHasOrder(db, input),

    /**
     * Makes the order of an attempt, which is charged at once by its own workflow, and returns the link as it is after
     * the first answer. Repeat-safe: the order's id is the attempt's. Throws the refusals of Orders.create.
     */
    async payThroughLink({
      deadline_at,
      ...input
    }: PayThroughLinkInput & Required<Pick<CreateOrderInput, 'payment_link'>>): Promise<PaymentLinkRecord> {
      await workflows.orders.create(input, deadline_at);
      return await loadPaymentLink(db, input.payment_link!.id);
    },

    /** Ends a link whose time is over and whose payment is not in progress. Returns the link as it is now. */
    expirePaymentLink: ({ payment_link_id, now }: { payment_link_id: string } & AtTime) =>
      endPaymentLink(db, payment_link_id, { ended_by: 'time', now }),

    /**
     * Ends a link for its merchant. Throws Conflict while a payment is in progress and once it is paid,
     * PreconditionFailed.
     */
    async endPaymentLink({
      payment_link_id,
      versions,
      now,
    }: { payment_link_id: string; versions?: number[] | undefined } & AtTime): Promise<PaymentLinkRecord> {
      const link = await endPaymentLink(db, payment_link_id, { ended_by: 'merchant', now, versions });
      if (link.status === 'expired') return link;
      if (versions?.includes(link.version) === false) throw preconditionFailed();
      requireLinkMayEnd(link.status);
      throw new Error(`the guard refused to end the payment link ${payment_link_id}`);
    },
  });
}

/**
 * Wraps an activity that may end an order after its first answer: the workflow of its payment link reads the record
 * then (rules 19.6). The order's move has moved the link already, so a signal that is repeated does no harm. `isNeeded`:
 * whether it is to be sent, once the activity is done.
 */
export function thenSignalPaymentLink<Input extends unknown[]>(
  { payment_links }: { payment_links: Pick<Services['workflows']['payment_links'], 'recordChanged'> },
  move: (...input: Input) => Promise<OrderRecord>,
  isNeeded: (...input: Input) => boolean = () => true,
): (...input: Input) => Promise<OrderRecord> {
  return async (...input) => {
    const order = await move(...input);
    if (order.payment_link !== undefined && isFinal(ORDER_MOVES, order.status) && isNeeded(...input)) {
      await payment_links.recordChanged(order.payment_link.id);
    }
    return order;
  };
}
