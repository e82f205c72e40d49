import {
  DELIVERY_EXAMPLE,
  RECOVERY_EXAMPLE,
  RECOVERY_EXAMPLES,
  RECOVER_REQUEST_EXAMPLE,
  REDELIVERY_EXAMPLE,
} from '../examples';
import type { Examples } from '../routes';
import type { API_KEY_ROUTES, ApiKeyAnswer } from './api-key';
import type { CLIENT_ROUTES, ClientAnswer } from './client';
import type { DeliveryAnswer } from '../delivery';
import type { DELIVERY_ROUTES } from './delivery';
import type { MANAGED_RECOVERY_ROUTES } from './webhook-recovery';
import type { ERASURE_ROUTES, ErasureAnswer } from './erasure';
import type { AuditEntry, HISTORY_ROUTES } from './history';
import type { INCIDENT_ROUTES, IncidentAnswer } from './incident';
import type { MERCHANT_ROUTES, ManagedMerchant } from './merchant';
import type { MANAGED_PROJECT_ROUTES, ManagedProject } from './project';

const MERCHANT_ID = '5d3b8f0a-7b7e-4a63-8a8f-2f5b7f1c9d22';
const PROJECT_ID = '0b1b8c1e-54a4-4b7c-9a8e-0f4f2f7f3c11';
const CLIENT_ID = '3f0e7b52-1c94-4d0a-8e57-6b2d9a41c7f3';
const KEY_ID = '5f3a9c0d21b7';
const CREATED = '2026-01-15T12:00:05.433000+00:00';
const MODIFIED = '2026-01-16T09:30:00.310000+00:00';

const { next_attempt_at: _, ...paused_at } = DELIVERY_EXAMPLE;
const paused: DeliveryAnswer = { ...paused_at, status: 'paused' };

const merchant: ManagedMerchant = {
  id: MERCHANT_ID,
  name: 'Demo Books',
  country: 'NL',
  default_currency: 'EUR',
  created: CREATED,
  modified: CREATED,
};

const project: ManagedProject = {
  id: PROJECT_ID,
  merchant_id: MERCHANT_ID,
  name: 'Web shop, test',
  is_test: true,
  status: 'active',
  webhook_url: 'https://shop.example.com/webhooks',
  payment_methods: ['credit-card'],
  currencies: ['EUR'],
  expiration_period: 'PT30M',
  transaction_expiration_period: 'PT30M',
  capture_expiration_period: 'P5D',
  account_funding: false,
  created: CREATED,
  modified: CREATED,
};
const suspended: ManagedProject = { ...project, status: 'suspended', suspended_by: 'merchant', modified: MODIFIED };

const erasure: ErasureAnswer = {
  id: '0198d2a4-3f6b-7c11-9d52-7e0b6a1c8f43',
  project_id: PROJECT_ID,
  status: 'running',
  named_by: 'merchant_customer_id',
  orders: 0,
  created: CREATED,
};
const erased: ErasureAnswer = { ...erasure, status: 'completed', orders: 4, completed: MODIFIED };

const apiKey: ApiKeyAnswer = { id: KEY_ID, project_id: PROJECT_ID, prefix: `test_${KEY_ID}`, created: CREATED };
const client: ClientAnswer = {
  client_id: CLIENT_ID,
  name: 'Back office',
  role: 'merchant',
  merchant_id: MERCHANT_ID,
  created: CREATED,
};

const entry: AuditEntry = {
  id: '0190c1a2-6f3b-7c4d-8e5f-1a2b3c4d5e6f',
  at: MODIFIED,
  actor: { kind: 'client', id: CLIENT_ID },
  action: 'project.update',
  object: { kind: 'project', id: PROJECT_ID },
  before: { status: 'active' },
  after: { status: 'suspended', suspended_by: 'merchant' },
  request_id: '6c0f1a52-7d3e-4b8a-9f21-5e4d3c2b1a09',
};

const incident: IncidentAnswer = {
  id: '0190c1a2-7a4c-7d5e-9f60-2b3c4d5e6f70',
  kind: 'missing_in_record',
  status: 'open',
  project_id: PROJECT_ID,
  object_id: '8c7e2a10-3b54-5f66-a1c0-9d8e7f6a5b43',
  order_id: '0190c1a2-1f2e-7c3d-8b4a-5e6f7a8b9c0d',
  transaction_id: '8c7e2a10-3b54-5f66-a1c0-9d8e7f6a5b43',
  currency: 'EUR',
  record_amount: 0,
  processor_amount: 2_500,
  description: 'The processor approved a sale of 2500; the record has no such transaction.',
  opened: CREATED,
  last_seen: MODIFIED,
};

const ofMerchant = { params: { merchant_id: MERCHANT_ID } };
const ofProject = { params: { project_id: PROJECT_ID } };
const ofKey = { params: { id: KEY_ID } };
const ofClient = { params: { client_id: CLIENT_ID } };

type Routes = typeof MERCHANT_ROUTES &
  typeof MANAGED_PROJECT_ROUTES &
  typeof API_KEY_ROUTES &
  typeof CLIENT_ROUTES &
  typeof DELIVERY_ROUTES &
  typeof MANAGED_RECOVERY_ROUTES &
  typeof ERASURE_ROUTES &
  typeof INCIDENT_ROUTES &
  typeof HISTORY_ROUTES;

export const MANAGE_EXAMPLES: Examples<Routes> = {
  listMerchants: { answer: { items: [merchant] } },
  createMerchant: {
    body: { name: 'Demo Books', country: 'NL', default_currency: 'EUR' },
    answer: merchant,
  },
  getMerchant: { ...ofMerchant, answer: merchant },
  updateMerchant: {
    ...ofMerchant,
    body: { name: 'Demo Books and Maps' },
    answer: { ...merchant, name: 'Demo Books and Maps', modified: MODIFIED },
  },
  listProjects: { ...ofMerchant, answer: { items: [project] } },
  createProject: {
    ...ofMerchant,
    body: { name: 'Web shop, test', is_test: true, webhook_url: 'https://shop.example.com/webhooks' },
    answer: project,
  },
  getManagedProject: { ...ofProject, answer: project },
  updateProject: { ...ofProject, body: { status: 'suspended' }, answer: suspended },
  getWebhookSecret: {
    ...ofProject,
    answer: { project_id: PROJECT_ID, secret: 'whsec_ZXhhbXBsZSBzZWNyZXQgb2YgYSBwcm9qZWN0' },
  },
  rollWebhookSecret: {
    ...ofProject,
    body: { overlap: 'PT24H' },
    answer: {
      project_id: PROJECT_ID,
      secret: 'whsec_YW5vdGhlciBzZWNyZXQgb2YgYSBwcm9qZWN0',
      previous_expires: '2026-01-16T12:00:05.433000+00:00',
    },
  },
  listApiKeys: { ...ofProject, answer: { items: [{ ...apiKey, last_used: '2026-01-16' }] } },
  createApiKey: { ...ofProject, answer: { ...apiKey, key: `test_${KEY_ID}…` } },
  rollApiKey: { ...ofKey, body: { overlap: 'PT24H' }, answer: { ...apiKey, key: `test_${KEY_ID}…` } },
  revokeApiKey: { ...ofKey, answer: null },
  listClients: { answer: { items: [client] } },
  createClient: {
    body: { name: 'Back office', role: 'merchant', merchant_id: MERCHANT_ID },
    answer: { ...client, client_secret: 'cs_…' },
  },
  rollClient: { ...ofClient, body: { overlap: 'PT0S' }, answer: { ...client, client_secret: 'cs_…' } },
  revokeClient: { ...ofClient, answer: null },
  listDeliveries: { answer: { items: [DELIVERY_EXAMPLE] } },
  getDelivery: { params: { id: DELIVERY_EXAMPLE.id }, answer: DELIVERY_EXAMPLE },
  redeliver: { params: { id: DELIVERY_EXAMPLE.id }, answer: REDELIVERY_EXAMPLE },
  deliverNow: {
    params: { id: DELIVERY_EXAMPLE.id },
    answer: { ...DELIVERY_EXAMPLE, next_attempt_at: '2026-01-15T12:00:31.070000+00:00' },
  },
  pauseDelivery: { params: { id: DELIVERY_EXAMPLE.id }, answer: paused },
  resumeDelivery: { params: { id: DELIVERY_EXAMPLE.id }, answer: DELIVERY_EXAMPLE },
  recoverWebhooks: {
    body: { project_id: PROJECT_ID, ...RECOVER_REQUEST_EXAMPLE },
    answer: { ...RECOVERY_EXAMPLE, remaining: 2_000, sent: 0, delivered: 0 },
  },
  listWebhookRecoveries: { answer: { items: [RECOVERY_EXAMPLE] } },
  ...RECOVERY_EXAMPLES,
  eraseCustomer: { body: { project_id: PROJECT_ID, merchant_customer_id: 'C-1001' }, answer: erasure },
  listErasures: { answer: { items: [erased] } },
  getErasure: { params: { erasure_id: erased.id }, answer: erased },
  listIncidents: { answer: { items: [incident] } },
  getIncident: { params: { id: incident.id }, answer: incident },
  closeIncident: {
    params: { id: incident.id },
    body: { reason: 'Refunded in the back office of the processor, ticket 42.' },
    answer: {
      ...incident,
      status: 'closed',
      closed: MODIFIED,
      closed_by: 'operator',
      reason: 'Refunded in the back office of the processor, ticket 42.',
    },
  },
  listAuditTrail: { answer: { items: [entry] } },
  listAttentions: {
    answer: {
      items: [
        {
          id: '8d5e2b71-6c0f-4a39-9e84-1f7b3a5d2c60',
          object: { kind: 'webhook', id: DELIVERY_EXAMPLE.id },
          project_id: PROJECT_ID,
          reason: 'webhook failed 10 times',
          since: MODIFIED,
        },
      ],
    },
  },
  getChangelog: {
    answer: { items: [{ version: '1.0.0', date: '2026-01-15', text: 'The first version of this interface.' }] },
  },
};
