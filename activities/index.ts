import { isLate } from '../src/db/requests/request-claims';
import type { CreateOrderInput } from '../workflows/messages';
import type { Services } from './services';
import { followUpActivities } from './follow-up';
import { orderActivities } from './order';
import { paymentLinkActivities, thenSignalPaymentLink } from './payment-link';
import { searchIndexActivities } from './search-index';
import { sandboxClockActivities } from './sandbox-clock';
import { settleByHandActivities } from './settle-by-hand';
import { settlementActivities } from './settlements';
import { webhookDeliveryActivities } from './webhook-delivery';

/** All activities, grouped by the workflow that uses them. Every one is safe to repeat. */
export function createActivities(services: Services) {
  const order = orderActivities(services);
  const by_hand = settleByHandActivities(services);
  return {
    ...order,
    createAndCharge: thenSignalPaymentLink(services.workflows, order.createAndCharge.bind(order), mayBeAnswered),
    pollCharge: thenSignalPaymentLink(services.workflows, order.pollCharge.bind(order)),
    endUnpaidOrder: thenSignalPaymentLink(services.workflows, order.endUnpaidOrder.bind(order)),
    ...webhookDeliveryActivities(services),
    ...followUpActivities(services),
    ...paymentLinkActivities(services),
    ...searchIndexActivities(services),
    ...settlementActivities(services),
    ...sandboxClockActivities(services),
    ...by_hand,
    settleCharge: thenSignalPaymentLink(services.workflows, by_hand.settleCharge.bind(by_hand)),
  };
}

/** Whether the payer may have been answered before the outcome was known; otherwise the answer carries it. */
const mayBeAnswered = ({ not_after }: CreateOrderInput) => isLate(not_after);

/** The activities as workflows see them. */
export type Activities = ReturnType<typeof createActivities>;
