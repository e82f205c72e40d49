/** The workflows the worker runs; the door for everyone else is messages.ts. */
export { order } from './order';
export { webhookDelivery } from './webhook-delivery';
