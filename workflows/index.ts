/** The workflows the worker runs; the door for everyone else is messages.ts. */
export { followUp } from './follow-up';
export { order } from './order';
export { webhookDelivery } from './webhook-delivery';
