/** The workflows the worker runs; the door for everyone else is messages.ts. */
export { order } from './order';
export { reversal } from './reversal';
export { webhookDelivery } from './webhook-delivery';
