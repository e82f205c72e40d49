import { deliverySchema } from '../delivery';
import { webhookRecoveryPageSchema, webhookRecoverySchema } from '../webhook-recovery';
import { errorSchema } from '../error';
import type { RouteSet } from '../routes';
import { API_KEY_ROUTES, apiKeyPageSchema, apiKeyRollRequestSchema, apiKeySchema, newApiKeySchema } from './api-key';
import {
  CLIENT_ROUTES,
  clientPageSchema,
  clientRequestSchema,
  clientRollRequestSchema,
  clientSchema,
  newClientSchema,
} from './client';
import { DELIVERY_ROUTES, deliveryPageSchema } from './delivery';
import { ERASURE_ROUTES, erasurePageSchema, erasureRequestSchema, erasureSchema } from './erasure';
import { MANAGE_EXAMPLES } from './examples';
import {
  HISTORY_ROUTES,
  attentionPageSchema,
  attentionSchema,
  auditEntrySchema,
  auditPageSchema,
  changelogSchema,
} from './history';
import { INCIDENT_ROUTES, incidentCloseRequestSchema, incidentPageSchema, incidentSchema } from './incident';
import {
  MERCHANT_ROUTES,
  merchantPageSchema,
  merchantRequestSchema,
  merchantSchema,
  merchantUpdateSchema,
} from './merchant';
import {
  MANAGED_PROJECT_ROUTES,
  managedProjectPageSchema,
  managedProjectRequestSchema,
  managedProjectSchema,
  managedProjectUpdateSchema,
  webhookSecretRollRequestSchema,
  webhookSecretSchema,
} from './project';
import { MANAGED_RECOVERY_ROUTES, managedRecoverRequestSchema } from './webhook-recovery';

/** The token endpoint of the bearer-token host, and the only scope of its tokens (rules 21.2). */
export const TOKEN_PATH = '/common/oauth2/v2.0/token';
export const TOKEN_SCOPE = 'payments/.default';

const ROUTES = {
  ...MERCHANT_ROUTES,
  ...MANAGED_PROJECT_ROUTES,
  ...API_KEY_ROUTES,
  ...CLIENT_ROUTES,
  ...DELIVERY_ROUTES,
  ...MANAGED_RECOVERY_ROUTES,
  ...ERASURE_ROUTES,
  ...INCIDENT_ROUTES,
  ...HISTORY_ROUTES,
};
export type ManageRoutes = typeof ROUTES;

/** The API that operators and the back offices of merchants call with a bearer token. */
export const MANAGE_API: RouteSet<ManageRoutes> = {
  name: 'Payments management API',
  description: `Merchants, projects, API keys and clients of the payment service, for its operators and for merchants' back offices. Get an access token with \`POST ${TOKEN_PATH}\`, a form with \`grant_type=client_credentials\`, \`client_id\`, \`client_secret\` and \`scope=${TOKEN_SCOPE}\`, and send it as \`Authorization: Bearer\`. It is good for an hour. A client with role \`operator\` sees and changes everything; one with role \`merchant\` its own merchant, and objects of others do not exist for it. Payments themselves are made on the other host, with the API key of a project.`,
  security: {
    name: 'accessToken',
    scheme: 'bearer',
    challenge: 'Bearer realm="payments"',
    description: 'An access token of the client credentials flow.',
    token: { path: TOKEN_PATH, scope: TOKEN_SCOPE },
  },
  routes: ROUTES,
  tags: [
    { name: 'Merchants', description: 'The businesses that collect payments.', routes: MERCHANT_ROUTES },
    { name: 'Projects', description: 'The accounts of a merchant, test or live.', routes: MANAGED_PROJECT_ROUTES },
    { name: 'API keys', description: 'The keys with which a project calls the payments API.', routes: API_KEY_ROUTES },
    { name: 'Webhooks', description: 'Deliveries of webhooks.', routes: DELIVERY_ROUTES },
    {
      name: 'Webhook recoveries',
      description: 'Sending the failed webhooks of a project again.',
      routes: MANAGED_RECOVERY_ROUTES,
    },
    { name: 'Erasures', description: 'Erasing the personal data of customers.', routes: ERASURE_ROUTES },
    { name: 'Clients', description: 'OAuth clients of this host.', routes: CLIENT_ROUTES },
    {
      name: 'Incidents',
      description: 'Differences in money between the record and the processor.',
      routes: INCIDENT_ROUTES,
    },
    { name: 'History', description: 'The audit trail, and the changelog of this API.', routes: HISTORY_ROUTES },
  ],
  schemas: {
    Merchant: merchantSchema,
    MerchantRequest: merchantRequestSchema,
    MerchantUpdate: merchantUpdateSchema,
    MerchantPage: merchantPageSchema,
    Project: managedProjectSchema,
    ProjectRequest: managedProjectRequestSchema,
    ProjectUpdate: managedProjectUpdateSchema,
    ProjectPage: managedProjectPageSchema,
    WebhookSecret: webhookSecretSchema,
    WebhookSecretRollRequest: webhookSecretRollRequestSchema,
    ApiKey: apiKeySchema,
    NewApiKey: newApiKeySchema,
    ApiKeyPage: apiKeyPageSchema,
    ApiKeyRollRequest: apiKeyRollRequestSchema,
    Client: clientSchema,
    NewClient: newClientSchema,
    ClientRequest: clientRequestSchema,
    ClientPage: clientPageSchema,
    ClientRollRequest: clientRollRequestSchema,
    Delivery: deliverySchema,
    DeliveryPage: deliveryPageSchema,
    RecoverRequest: managedRecoverRequestSchema,
    WebhookRecovery: webhookRecoverySchema,
    WebhookRecoveryPage: webhookRecoveryPageSchema,
    Erasure: erasureSchema,
    ErasureRequest: erasureRequestSchema,
    ErasurePage: erasurePageSchema,
    Incident: incidentSchema,
    IncidentPage: incidentPageSchema,
    IncidentCloseRequest: incidentCloseRequestSchema,
    AuditEntry: auditEntrySchema,
    AuditPage: auditPageSchema,
    Attention: attentionSchema,
    AttentionPage: attentionPageSchema,
    Changelog: changelogSchema,
    Error: errorSchema,
  },
  examples: MANAGE_EXAMPLES,
  webhooks: {},
};
