import { z } from 'zod';
import type { ManageContext } from '../../api/manage/manager';
import { formatTimestamp, presentPage } from '../../api/present/format';
import { pageQuery } from '../contract/lists';
import type { Input } from '../contract/routes';
import { idInput, operatorReason } from '../contract/scalars';
import type { Database } from '../db/query';
import { listUnknownOutcomes, type ManualOutcomeEntry, type UnknownOutcome } from '../db/orders/manual-outcomes';
import { MANUAL_OUTCOMES } from '../domain/transaction';
import type { AcceptedRequest } from '../domain/accepted-request';
import type { WorkflowClients } from '../temporal/workflows';
import type { CommandRoute } from './commands';

/** Outcomes that an operator sets where the processor will never give one (rules 10.14). */

interface OutcomeServices {
  db: Database;
  workflows: Pick<WorkflowClients, 'manual_outcomes'>;
}

const LIST = {
  summary: 'List the outcomes that the processor has not given',
  description: 'Transactions of orders and follow-up orders whose outcome is unknown, since when, newest first.',
  query: pageQuery({}),
} as const satisfies CommandRoute;

const SET = {
  summary: 'Set an outcome that the processor will never give',
  description:
    'The processor is polled first: an outcome that it gives is recorded instead. A repeated command changes nothing.',
  params: z.object({ transaction_id: idInput() }),
  body: z.object({
    outcome: z.enum(MANUAL_OUTCOMES).describe('What the processor has done, as it said elsewhere.'),
    reason: operatorReason().describe('How that is known; recorded with the event and in the audit trail.'),
  }),
} as const satisfies CommandRoute;

/** The commands of the noun `outcome`. */
export const OUTCOME_COMMANDS = [
  {
    verb: 'list',
    route: LIST,
    run: async ({ db }: OutcomeServices, _context: ManageContext, { query }: Input<typeof LIST>) =>
      presentPage(await listUnknownOutcomes(db, query), presentUnknownOutcome),
  },
  {
    verb: 'set',
    route: SET,
    run: async (
      { workflows }: OutcomeServices,
      { caller, request }: ManageContext,
      { params, body }: Input<typeof SET>,
    ) => {
      const outcome = { ...params, ...body, operator: caller.actor.id };
      const entry = await workflows.manual_outcomes.setOutcome(outcome, request);
      return presentManualOutcome(entry, request);
    },
  },
];

const presentUnknownOutcome = ({ since, polled_at, ...outcome }: UnknownOutcome) => ({
  ...outcome,
  since: formatTimestamp(since),
  ...(polled_at !== null && { polled_at: formatTimestamp(polled_at) }),
});

/** `set`: `now`, or `earlier` if the outcome was set before. */
const presentManualOutcome = (entry: ManualOutcomeEntry, { request_id }: AcceptedRequest) => ({
  transaction_id: entry.object_id,
  ...entry.after,
  set: entry.request_id === request_id ? 'now' : 'earlier',
  set_at: formatTimestamp(entry.at),
  set_by: entry.actor_id,
});
