import { z } from 'zod';
import type { Route } from '../routes';
import { instantParam, timestampOutput, idOutput } from '../scalars';
import { pageQuery, pageSchema } from '../lists';

const snapshot = () => z.custom<object>().optional().meta({ type: 'object', additionalProperties: true });

export const auditEntrySchema = z.strictObject({
  id: idOutput(),
  at: timestampOutput(),
  actor: z
    .strictObject({ kind: z.enum(['client', 'api_key', 'command_line', 'temporal']), id: z.string() })
    .describe(
      'Who did it: the id of the client or API key, the name of the user at the command line, or the name that an operator gave in Temporal. A merchant reads `operator` in place of the id where an operator did it.',
    ),
  action: z.string().describe('For example `project.update`.'),
  object: z.strictObject({ kind: z.string(), id: z.string() }),
  before: snapshot().describe('The object before, without secrets; absent when it was created.'),
  after: snapshot().describe('The object after, without secrets; absent when it was deleted.'),
  request_id: idOutput().optional().describe('`X-Request-Id` of the request.'),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
export const auditPageSchema = pageSchema(auditEntrySchema);

/** Why an operator has to act on an object (rules 24.19). */
export const attentionSchema = z.strictObject({
  id: idOutput(),
  object: z
    .strictObject({
      kind: z.enum(['order', 'webhook', 'settlements', 'search_index', 'workflow']),
      id: z.string(),
    })
    .describe('A webhook has the id of its delivery, a workflow without a record its workflow id.'),
  project_id: idOutput().optional(),
  reason: z.string().describe('The text of the search attribute `Attention`.'),
  since: timestampOutput(),
  until: timestampOutput().optional().describe('Absent while an operator has to act.'),
});
export type AttentionAnswer = z.infer<typeof attentionSchema>;
export const attentionPageSchema = pageSchema(attentionSchema);

export const changelogSchema = z.strictObject({
  items: z.array(
    z.strictObject({
      version: z.string(),
      date: z.string().meta({ format: 'date' }),
      text: z.string(),
    }),
  ),
});

const name = () => z.string().min(1).max(255).optional();

export const HISTORY_ROUTES = {
  listAuditTrail: {
    method: 'get',
    path: '/v1/audit-trail/',
    summary: 'List the audit trail',
    description:
      'Who changed what: merchants, projects, API keys, clients, webhooks, and outcomes that an operator set by hand. Entries are never changed or deleted. A merchant sees the entries about its own objects.',
    query: pageQuery({
      actor: name().describe('The id of the actor as it is shown, or its kind.'),
      object: name().describe('The id of the object, or its kind.'),
      since: instantParam().optional().describe('Entries from this instant on.'),
    }),
    output: auditPageSchema,
  },
  listAttentions: {
    method: 'get',
    path: '/v1/attentions/',
    summary: 'List what needs an operator',
    description:
      'Objects on which an operator has to act, with the reason, since when and until when. Unlike the search attribute `Attention` in Temporal they are kept, those of an order until its month is removed.',
    query: pageQuery({
      status: z.enum(['open', 'all']).default('open').describe('`open`: only those without `until`.'),
    }),
    output: attentionPageSchema,
    operators_only: true,
  },
  getChangelog: {
    method: 'get',
    path: '/v1/changelog/',
    summary: 'Get the changelog',
    description: 'Changes of this API, newest first.',
    output: changelogSchema,
  },
} as const satisfies Record<string, Route>;
