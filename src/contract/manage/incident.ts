import { z } from 'zod';
import { INCIDENT_KINDS } from '../../domain/incident';
import type { Route } from '../routes';
import { amount, currency, idInput, timestampOutput, idOutput, operatorReason } from '../scalars';
import { pageQuery, pageSchema } from '../lists';

const INCIDENT_STATUSES = ['open', 'closed'] as const;

/** A difference in money between the record and the processor (rules 26.5). */
export const incidentSchema = z.strictObject({
  id: idOutput(),
  kind: z.enum(INCIDENT_KINDS).describe('How the two differ; docs/operations.md says what to do for each kind.'),
  status: z.enum(INCIDENT_STATUSES),
  project_id: idOutput(),
  object_id: z
    .string()
    .describe('What differs: a transaction, or of kind sum its project, operation, currency and hour.'),
  order_id: idOutput().optional().describe('The payment order; absent for a sum.'),
  transaction_id: idOutput().optional().describe("The payment's transaction; absent for a sum."),
  currency: currency(),
  record_amount: amount().describe('What the record has. 0: nothing.'),
  processor_amount: amount().describe('What the processor has. 0: nothing.'),
  description: z.string().describe('The difference in words.'),
  opened: timestampOutput(),
  last_seen: timestampOutput().describe('When the audit found the difference last.'),
  closed: timestampOutput().optional(),
  closed_by: z.enum(['audit', 'operator']).optional().describe('audit: a later run did not find the difference.'),
  reason: z.string().optional().describe('Why it is closed.'),
});
export type IncidentAnswer = z.infer<typeof incidentSchema>;
export const incidentPageSchema = pageSchema(incidentSchema);
export const incidentCloseRequestSchema = z.object({
  reason: operatorReason().describe('Why the difference is right, or how it was settled; recorded in the audit trail.'),
});

const incidentParams = z.object({ id: idInput() });

export const INCIDENT_ROUTES = {
  listIncidents: {
    method: 'get',
    path: '/v1/incidents/',
    summary: 'List incidents',
    description: 'Differences in money between the record and the processor, newest first. For operators.',
    query: pageQuery({
      status: z.enum(INCIDENT_STATUSES).optional(),
      kind: z.enum(INCIDENT_KINDS).optional(),
      project_id: idInput().optional().meta({ format: 'uuid' }),
    }),
    output: incidentPageSchema,
    operators_only: true,
  },
  getIncident: {
    method: 'get',
    path: '/v1/incidents/{id}/',
    summary: 'Get an incident',
    description: 'A difference in money with the amounts of both sides. For operators.',
    params: incidentParams,
    output: incidentSchema,
    operators_only: true,
    errors: ['NotFound'],
  },
  closeIncident: {
    method: 'post',
    path: '/v1/incidents/{id}/close/',
    summary: 'Close an incident',
    description:
      'Says why the difference may stay. The same amounts open no incident again; other amounts do. Conflict when it is closed already. For operators.',
    params: incidentParams,
    body: incidentCloseRequestSchema,
    output: incidentSchema,
    operators_only: true,
    ignores_if_match: true,
    errors: ['NotFound', 'Conflict'],
  },
} as const satisfies Record<string, Route>;
