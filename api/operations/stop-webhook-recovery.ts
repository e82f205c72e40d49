import { changeRequestedRecovery } from './recover-webhooks';

/** Stops a recovery of the project (rules 13.18). Throws NotFound, Unauthorized for one of another project, Conflict. */
export const stopWebhookRecovery = changeRequestedRecovery('stop');
