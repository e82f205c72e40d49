/** The workflows the worker runs; all other code imports messages.ts. */
export { audit } from './audit';
export { erasure } from './erasure';
export { followUp } from './follow-up';
export { incident } from './incident';
export { order } from './order';
export { paymentLink } from './payment-link';
export { receiverCheck } from './receiver-check';
export { searchIndexCheck } from './search-index-check';
export { settlements } from './settlements';
export { sandboxClock } from './sandbox-clock';
export { webhookDelivery } from './webhook-delivery';
export { webhookRecovery } from './webhook-recovery';
