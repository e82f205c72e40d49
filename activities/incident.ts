import { required, type Database } from '../src/db/query';
import { findIncident, recordIncidentEvent, type StoredIncident } from '../src/db/audit/incidents';
import { WEBHOOK_ATTEMPTS_MAX, webhookTimeLimit } from '../src/domain/delivery';
import type { IncidentEvent, IncidentProgress } from '../src/domain/incident';
import { incidentWorkflowId, type IncidentInput } from '../workflows/messages';
import type { ActivityServices } from './services';

/** The incident as recorded. Throws RecordMissing when there is none. */
export async function readIncident({ db }: ActivityServices, input: IncidentInput): Promise<IncidentProgress> {
  return progressOf(await load(db, input));
}

/**
 * Makes one attempt to send an event to the operator's webhook (rules 26.7), unless it was sent. Returns the failure in
 * words. Records the end: received, failed for the last time, or without an address. Repeat-safe.
 */
export async function notifyOperator(
  { db, operator_webhook, postWebhook, log }: ActivityServices,
  { event, attempt, ...input }: IncidentInput & { event: IncidentEvent; attempt: number },
): Promise<{ failure?: string | undefined }> {
  const incident = await load(db, input);
  if (incident[`${event}_event`] !== null) return {};
  if (operator_webhook === undefined) {
    await recordIncidentEvent(db, incident.id, event, 'none');
    return {};
  }
  const { failure } = await postWebhook({
    url: operator_webhook.url,
    webhook_id: `${incidentWorkflowId(incident.id)}:${event}`,
    body: {
      event: `incident_${event}`,
      incident_id: incident.id,
      kind: incident.kind,
      project_id: incident.project_id,
    },
    secrets: [operator_webhook.secret],
    time_limit_ms: webhookTimeLimit(attempt),
    // The operator's receiver may be in the service's own network.
    private_addresses: true,
  });
  if (failure === undefined) await recordIncidentEvent(db, incident.id, event, 'sent');
  else if (attempt >= WEBHOOK_ATTEMPTS_MAX) {
    await recordIncidentEvent(db, incident.id, event, 'failed');
    log.error({ incident_id: incident.id, event, failure }, "the operator's webhook was not delivered");
  }
  return failure === undefined ? {} : { failure };
}

async function load(db: Database, { incident_id }: IncidentInput): Promise<StoredIncident> {
  return required(await findIncident(db, incident_id), incidentWorkflowId(incident_id));
}

function progressOf({ kind, description, closed_at, opened_event, closed_event }: StoredIncident): IncidentProgress {
  const is_closed = closed_at !== null;
  const due_event = opened_event === null ? 'opened' : is_closed && closed_event === null ? 'closed' : undefined;
  const has_failed_event = opened_event === 'failed' || closed_event === 'failed';
  return { kind, description, is_closed, has_failed_event, clock_offset_ms: 0, ...(due_event && { due_event }) };
}
