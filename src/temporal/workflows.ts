import type { TemporalAccess } from './call';
import { Deliveries } from './deliveries';
import { FollowUps } from './follow-ups';
import { Orders } from './orders';
import { PaymentLinks } from './payment-links';
import { ProcessorNotifications } from './processor-notifications';
import { SandboxClocks } from './sandbox-clocks';
import { SettleByHand } from './settle-by-hand';

/** Every way to a workflow: one member, in a file of its own, for each kind of workflow. */
export interface Workflows {
  orders: Orders;
  follow_ups: FollowUps;
  deliveries: Deliveries;
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
    deliveries: new Deliveries(temporal),
    payment_links: new PaymentLinks(temporal),
    sandbox_clocks: new SandboxClocks(temporal),
    settle_by_hand: new SettleByHand(temporal, orders, follow_ups),
    processor_notifications: new ProcessorNotifications(temporal, orders, follow_ups),
  };
}
