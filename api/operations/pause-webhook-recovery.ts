import { changeRequestedRecovery } from './recover-webhooks';

/** Pauses a recovery of the project (rules 13.18). Throws NotFound, Unauthorized for one of another project, Conflict. */
export const pauseWebhookRecovery = changeRequestedRecovery('pause');
