import type { ManageRoutes } from '../contract/manage/manage-api';
import type { RequestParts, Route } from '../contract/routes';

/** The input of a command: the parameters of the path as arguments, all other fields as options. */
export type CommandRoute = Pick<Route, 'summary' | 'description'> & RequestParts;

/**
 * The commands by noun and verb, each with the operation of the bearer-token host that it does; arguments and options
 * follow from the operation.
 */
export const COMMANDS: Readonly<
  Record<string, { description: string; operations: Readonly<Record<string, keyof ManageRoutes>> }>
> = {
  merchant: {
    description: 'Merchants: the businesses that collect payments.',
    operations: { create: 'createMerchant', list: 'listMerchants', show: 'getMerchant', update: 'updateMerchant' },
  },
  project: {
    description: 'Projects: the accounts of a merchant, test or live.',
    operations: {
      create: 'createProject',
      list: 'listProjects',
      show: 'getManagedProject',
      update: 'updateProject',
      'webhook-secret': 'getWebhookSecret',
      'roll-webhook-secret': 'rollWebhookSecret',
    },
  },
  key: {
    description: 'API keys of projects.',
    operations: { create: 'createApiKey', list: 'listApiKeys', roll: 'rollApiKey', revoke: 'revokeApiKey' },
  },
  client: {
    description: 'OAuth clients of the bearer-token host.',
    operations: { create: 'createClient', list: 'listClients', roll: 'rollClient', revoke: 'revokeClient' },
  },
  delivery: {
    description: 'Deliveries of webhooks.',
    operations: {
      list: 'listDeliveries',
      show: 'getDelivery',
      redeliver: 'redeliver',
      'deliver-now': 'deliverNow',
      pause: 'pauseDelivery',
      resume: 'resumeDelivery',
    },
  },
  recovery: {
    description: 'Recoveries: the failed webhooks of a project are sent again.',
    operations: {
      start: 'recoverWebhooks',
      list: 'listWebhookRecoveries',
      show: 'getWebhookRecovery',
      pause: 'pauseWebhookRecovery',
      resume: 'resumeWebhookRecovery',
      stop: 'stopWebhookRecovery',
    },
  },
  customer: {
    description: "Customers: erasing a customer's personal data.",
    operations: { erase: 'eraseCustomer', erasures: 'listErasures', erasure: 'getErasure' },
  },
  incidents: {
    description: 'Differences in money between the record and the processor.',
    operations: { list: 'listIncidents', show: 'getIncident', close: 'closeIncident' },
  },
  audit: { description: 'The audit trail.', operations: { list: 'listAuditTrail' } },
  attention: { description: 'What needs an operator.', operations: { list: 'listAttentions' } },
};
