import type { TemporalAccess } from './call';
import { FollowUpWorkflows } from './follow-ups';
import { Histories } from './histories';
import type { ErasureInput, IncidentInput } from '../../workflows/messages';
import { KINDS, type StartedCheck, type StartedDelivery, type StartedWebhookRecovery } from './kinds';
import { ObjectWorkflows } from './object-workflows';
import { OrderWorkflows } from './orders';
import { PaymentLinkWorkflows } from './payment-links';
import { ProcessorNotifications } from './processor-notifications';
import { SandboxClockWorkflows } from './sandbox-clocks';
import { ManualOutcomes } from './manual-outcomes';

/** The clients of all workflows, one member for each kind. */
export interface WorkflowClients {
  orders: OrderWorkflows;
  follow_ups: FollowUpWorkflows;
  deliveries: ObjectWorkflows<StartedDelivery>;
  payment_links: PaymentLinkWorkflows;
  processor_notifications: ProcessorNotifications;
  sandbox_clocks: SandboxClockWorkflows;
  manual_outcomes: ManualOutcomes;
  incidents: ObjectWorkflows<IncidentInput>;
  webhook_recoveries: ObjectWorkflows<StartedWebhookRecovery>;
  receiver_checks: ObjectWorkflows<StartedCheck>;
  erasures: ObjectWorkflows<ErasureInput>;
  histories: Histories;
}

/** Access to the workflows through one connection to Temporal. */
export function createWorkflowClients(temporal: TemporalAccess): WorkflowClients {
  const orders = new OrderWorkflows(temporal);
  const follow_ups = new FollowUpWorkflows(temporal, orders);
  return {
    orders,
    follow_ups,
    deliveries: new ObjectWorkflows(temporal, KINDS.delivery),
    payment_links: new PaymentLinkWorkflows(temporal),
    incidents: new ObjectWorkflows(temporal, KINDS.incident),
    webhook_recoveries: new ObjectWorkflows(temporal, KINDS.webhook_recovery),
    receiver_checks: new ObjectWorkflows(temporal, KINDS.receiver_check),
    erasures: new ObjectWorkflows(temporal, KINDS.erasure),
    histories: new Histories(temporal),
    sandbox_clocks: new SandboxClockWorkflows(temporal),
    manual_outcomes: new ManualOutcomes(temporal, orders, follow_ups),
    processor_notifications: new ProcessorNotifications(temporal, orders, follow_ups),
  };
}
