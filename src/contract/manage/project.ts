import { z } from 'zod';
import { MAX_DURATION } from '../../domain/duration';
import { PROJECT_STATUSES } from '../../domain/transitions';
import type { Route } from '../routes';
import { currency, duration, durationOutput, idInput, timestampOutput, uri, idOutput } from '../scalars';
import { PAYMENT_METHODS } from '../transaction';
import { overlapRequest, pageQuery, pageSchema } from '../lists';
import { merchantParams, nameText } from './merchant';

const status = () => z.enum(PROJECT_STATUSES);

export const managedProjectSchema = z.strictObject({
  id: idOutput(),
  merchant_id: idOutput(),
  name: nameText(),
  is_test: z.boolean().describe('True: orders carry the flag is-test and no money moves. It never changes.'),
  status: status().describe('A suspended project takes no new orders, payment links or payments.'),
  suspended_by: z
    .enum(['operator', 'merchant'])
    .optional()
    .describe('Who has suspended it; absent while it is active. Read-only.'),
  webhook_url: uri().optional(),
  payment_methods: z.array(z.enum(PAYMENT_METHODS)),
  currencies: z.array(currency()),
  expiration_period: durationOutput().describe('Default of the order field of that name.'),
  transaction_expiration_period: durationOutput().describe(
    'Default for paying a transaction, and for `delayed` captures.',
  ),
  capture_expiration_period: durationOutput().describe('Default for capturing `manual` transactions.'),
  account_funding: z.boolean().describe('Whether it may load other accounts. Operators change it.'),
  created: timestampOutput(),
  modified: timestampOutput(),
});
export type ManagedProject = z.infer<typeof managedProjectSchema>;

const CURRENCIES_MAX = 200;
/** Fields that a request may set, at creation and later. */
const FIELDS = {
  name: nameText(),
  payment_methods: z.array(z.enum(PAYMENT_METHODS)).min(1).max(10),
  currencies: z.array(currency()).min(1).max(CURRENCIES_MAX),
  expiration_period: duration(MAX_DURATION.order),
  // It is also the window of `delayed` captures.
  transaction_expiration_period: duration(MAX_DURATION.capture),
  capture_expiration_period: duration(MAX_DURATION.capture),
  account_funding: z.boolean(),
};
const { name, ...optional } = FIELDS;

export const managedProjectRequestSchema = z
  .object(optional)
  .partial()
  .extend({ name, is_test: z.boolean(), webhook_url: uri().optional() });
export const managedProjectUpdateSchema = z
  .object(FIELDS)
  .partial()
  .extend({ status: status().optional(), webhook_url: uri().nullable().optional() });
export const managedProjectPageSchema = pageSchema(managedProjectSchema);

export const webhookSecretSchema = z.strictObject({
  project_id: idOutput(),
  secret: z.string().describe('Signs the webhooks of the project: `whsec_` and base64, as Standard Webhooks has it.'),
  previous_expires: timestampOutput()
    .optional()
    .describe('Until when webhooks carry a signature of the secret before, too; absent without one.'),
});
export type WebhookSecret = z.infer<typeof webhookSecretSchema>;
export const webhookSecretRollRequestSchema = overlapRequest('PT24H');

export const projectParams = z.object({ project_id: idInput() });

export const MANAGED_PROJECT_ROUTES = {
  listProjects: {
    method: 'get',
    path: '/v1/merchants/{merchant_id}/projects/',
    summary: 'List projects',
    description: 'The projects of a merchant.',
    params: merchantParams,
    query: pageQuery({}),
    output: managedProjectPageSchema,
    errors: ['NotFound'],
  },
  createProject: {
    method: 'post',
    path: '/v1/merchants/{merchant_id}/projects/',
    summary: 'Create a project',
    description:
      'A test project or a live project. Without `payment_methods` it takes cards, without `currencies` the default currency of the merchant. `account_funding` is for operators. When the merchant has 100 projects, one more is a Conflict for its own clients.',
    params: merchantParams,
    body: managedProjectRequestSchema,
    output: managedProjectSchema,
    ignores_if_match: true,
    success: 201,
    errors: ['NotFound', 'Conflict'],
  },
  getManagedProject: {
    method: 'get',
    path: '/v1/projects/{project_id}/',
    summary: 'Get a project',
    description: 'The settings of a project.',
    params: projectParams,
    output: managedProjectSchema,
    errors: ['NotFound'],
  },
  updateProject: {
    method: 'put',
    path: '/v1/projects/{project_id}/',
    summary: 'Change a project',
    description:
      'Changes the fields that are sent; null clears `webhook_url`, and fields that cannot change are ignored. While it is `suspended`, new orders, payment links and payments are refused with Forbidden; reading, refunds, captures, voids and what is under way go on. What an operator has suspended, only an operator makes `active` again; an operator who suspends what the merchant has suspended takes the suspension over. `account_funding` is for operators.',
    params: projectParams,
    body: managedProjectUpdateSchema,
    output: managedProjectSchema,
    ignores_if_match: true,
    errors: ['NotFound'],
  },
  getWebhookSecret: {
    method: 'get',
    path: '/v1/projects/{project_id}/webhook-secret/',
    summary: 'Get the webhook secret',
    description: 'The secret that signs the webhooks of the project.',
    params: projectParams,
    output: webhookSecretSchema,
    adds_audit_entry: true,
    errors: ['NotFound'],
  },
  rollWebhookSecret: {
    method: 'post',
    path: '/v1/projects/{project_id}/webhook-secret/roll/',
    summary: 'Roll the webhook secret',
    description:
      'Makes a new secret. For the overlap webhooks carry two signatures, of the new secret and of the one before, separated by a space: a receiver accepts a webhook when one of them fits. A second roll ends the overlap of the first: if the answer is lost, get the secret instead.',
    params: projectParams,
    body: webhookSecretRollRequestSchema,
    body_optional: true,
    output: webhookSecretSchema,
    secret_owner_field: 'project_id',
    ignores_if_match: true,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
