import type { ManageRoutes } from '../contract/manage/manage-api';
import type { RequestParts, Route } from '../contract/routes';

/** The input of a command: the parameters of the path as arguments, all other fields as options. */
export type CommandRoute = Pick<Route, 'summary' | 'description'> & RequestParts;

/**
 * A command that does what an operation of the bearer-token host does. Its arguments are the parameters of the path.
 */
interface OperationCommand {
  readonly verb: string;
  readonly operation: keyof ManageRoutes;
}

/** The commands by noun; the options of each follow from the operation. */
export const COMMANDS: Readonly<Record<string, { description: string; commands: readonly OperationCommand[] }>> = {
  merchant: {
    description: 'Merchants: the businesses that collect payments.',
    commands: [
      { verb: 'create', operation: 'createMerchant' },
      { verb: 'list', operation: 'listMerchants' },
      { verb: 'show', operation: 'getMerchant' },
      { verb: 'update', operation: 'updateMerchant' },
    ],
  },
  project: {
    description: 'Projects: the accounts of a merchant, test or live.',
    commands: [
      { verb: 'create', operation: 'createProject' },
      { verb: 'list', operation: 'listProjects' },
      { verb: 'show', operation: 'getManagedProject' },
      { verb: 'update', operation: 'updateProject' },
      { verb: 'webhook-secret', operation: 'getWebhookSecret' },
      { verb: 'roll-webhook-secret', operation: 'rollWebhookSecret' },
    ],
  },
  key: {
    description: 'API keys of projects.',
    commands: [
      { verb: 'create', operation: 'createApiKey' },
      { verb: 'list', operation: 'listApiKeys' },
      { verb: 'roll', operation: 'rollApiKey' },
      { verb: 'revoke', operation: 'revokeApiKey' },
    ],
  },
  client: {
    description: 'OAuth clients of the bearer-token host.',
    commands: [
      { verb: 'create', operation: 'createClient' },
      { verb: 'list', operation: 'listClients' },
      { verb: 'roll', operation: 'rollClient' },
      { verb: 'revoke', operation: 'revokeClient' },
    ],
  },
  delivery: {
    description: 'Deliveries of webhooks.',
    commands: [
      { verb: 'list', operation: 'listDeliveries' },
      { verb: 'show', operation: 'getDelivery' },
      { verb: 'redeliver', operation: 'redeliver' },
      { verb: 'deliver-now', operation: 'deliverNow' },
      { verb: 'pause', operation: 'pauseDelivery' },
      { verb: 'resume', operation: 'resumeDelivery' },
    ],
  },
  audit: {
    description: 'The audit trail.',
    commands: [{ verb: 'list', operation: 'listAuditTrail' }],
  },
};
