import type { TemporalAccess } from './call';
import { FollowUps } from './follow-ups';
import { KINDS, type StartedDelivery } from './kinds';
import { ObjectWorkflows } from './object-workflows';
import { Orders } from './orders';
import { PaymentLinks } from './payment-links';
import { ProcessorNotifications } from './processor-notifications';
import { SandboxClocks } from './sandbox-clocks';
import { SettleByHand } from './settle-by-hand';

/** Every way to a workflow: one member for each kind of workflow. */
export interface Workflows {
  orders: Orders;
  follow_ups: FollowUps;
  deliveries: ObjectWorkflows<StartedDelivery>;
  payment_links: PaymentLinks;
  processor_notifications: ProcessorNotifications;
  sandbox_clocks: SandboxClocks;
  settle_by_hand: SettleByHand;
}

/** Access to the workflows through one connection to Temporal. */
export function createWorkflows(temporal: TemporalAccess): Workflows {
  const orders = new Orders(temporal);
  const follow_ups = new FollowUps(temporal, orders);
  return {
    orders,
    follow_ups,
    deliveries: new ObjectWorkflows(temporal, KINDS.delivery),
    payment_links: new PaymentLinks(temporal),
    sandbox_clocks: new SandboxClocks(temporal),
    settle_by_hand: new SettleByHand(temporal, orders, follow_ups),
    processor_notifications: new ProcessorNotifications(temporal, orders, follow_ups),
  };
}
