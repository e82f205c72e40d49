import type { ApiKeyAnswer } from '../../src/contract/manage/api-key';
import type { ClientAnswer } from '../../src/contract/manage/client';
import type { AttentionAnswer, AuditEntry } from '../../src/contract/manage/history';
import type { ManagedMerchant as MerchantAnswer } from '../../src/contract/manage/merchant';
import type { ManagedProject, WebhookSecret } from '../../src/contract/manage/project';
import type { AttentionRow } from '../../src/db/recovery/attentions';
import type { ApiKey } from '../../src/db/projects/api-keys';
import type { AuditRow } from '../../src/db/projects/audit-trail';
import type { IncidentAnswer } from '../../src/contract/manage/incident';
import type { StoredIncident } from '../../src/db/audit/incidents';
import type { StoredMerchant } from '../../src/db/projects/merchants';
import type { OAuthClient } from '../../src/db/projects/oauth-clients';
import type { StoredProject } from '../../src/db/projects/projects';
import type { ProjectWebhookSecret } from '../../src/db/webhooks/webhook-secrets';
import { formatTimestamp } from '../present/format';

/**
 * How the bearer-token host and the audit trail show objects: without secrets, and without fields that are absent
 * (rules 1.3).
 */

export const presentMerchant = ({ created, modified, ...merchant }: StoredMerchant): MerchantAnswer => ({
  ...merchant,
  created: formatTimestamp(created),
  modified: formatTimestamp(modified),
});

export const presentProject = (project: StoredProject): ManagedProject => ({
  id: project.id,
  merchant_id: project.merchant_id,
  name: project.name,
  is_test: project.is_test,
  status: project.status,
  ...(project.suspended_by !== null && { suspended_by: project.suspended_by }),
  ...(project.webhook_url !== null && { webhook_url: project.webhook_url }),
  payment_methods: project.payment_methods as ManagedProject['payment_methods'],
  currencies: project.currencies,
  expiration_period: project.expiration_period,
  transaction_expiration_period: project.transaction_expiration_period,
  capture_expiration_period: project.capture_expiration_period,
  account_funding: project.account_funding,
  created: formatTimestamp(project.created),
  modified: formatTimestamp(project.modified),
});

export const presentWebhookSecret = (
  project_id: string,
  { secret, previous_expires }: ProjectWebhookSecret,
): WebhookSecret => ({
  project_id,
  secret,
  ...(previous_expires !== null && { previous_expires: formatTimestamp(previous_expires) }),
});

export const presentApiKey = ({ id, project_id, is_test, created, last_used, expires }: ApiKey): ApiKeyAnswer => ({
  id,
  project_id,
  prefix: `${is_test ? 'test' : 'live'}_${id}`,
  created: formatTimestamp(created),
  ...(last_used !== null && { last_used }),
  ...(expires !== null && { expires: formatTimestamp(expires) }),
});

export const presentClient = (client: OAuthClient): ClientAnswer => ({
  client_id: client.client_id,
  name: client.name,
  role: client.role,
  ...(client.merchant_id !== null && { merchant_id: client.merchant_id }),
  created: formatTimestamp(client.created),
  ...(client.last_used !== null && { last_used: client.last_used }),
  ...(client.expires !== null && { expires: formatTimestamp(client.expires) }),
});

export const presentIncident = (incident: StoredIncident): IncidentAnswer => ({
  id: incident.id,
  kind: incident.kind,
  status: incident.closed_at === null ? 'open' : 'closed',
  project_id: incident.project_id,
  object_id: incident.object_id,
  ...(incident.order_id !== null && { order_id: incident.order_id }),
  ...(incident.transaction_id !== null && { transaction_id: incident.transaction_id }),
  currency: incident.currency,
  record_amount: incident.record_amount,
  processor_amount: incident.processor_amount,
  description: incident.description,
  opened: formatTimestamp(incident.opened_at),
  last_seen: formatTimestamp(incident.last_seen_at),
  ...(incident.closed_at !== null && { closed: formatTimestamp(incident.closed_at) }),
  ...(incident.closed_by !== null && { closed_by: incident.closed_by }),
  ...(incident.reason !== null && { reason: incident.reason }),
});

export const presentChange = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: formatTimestamp(row.at),
  actor: { kind: row.actor_kind, id: row.actor_id },
  action: row.action,
  object: { kind: row.object_kind, id: row.object_id },
  ...(row.before !== null && { before: row.before }),
  ...(row.after !== null && { after: row.after }),
  ...(row.request_id !== null && { request_id: row.request_id }),
});

/** A reason for an operator to act. */
export const presentAttention = ({
  id,
  object_kind,
  object_id,
  project_id,
  ...row
}: AttentionRow): AttentionAnswer => ({
  id,
  object: { kind: object_kind, id: object_id },
  ...(project_id !== null && { project_id }),
  reason: row.reason,
  since: formatTimestamp(row.since),
  ...(row.until !== null && { until: formatTimestamp(row.until) }),
});
