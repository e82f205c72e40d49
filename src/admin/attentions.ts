import { z } from 'zod';
import { operatorReason } from '../contract/scalars';
import type { ManageContext } from '../../api/manage/manager';
import { presentAttention } from '../../api/manage/present';
import { tellWorkflow } from '../../api/requests/tell-workflow';
import type { Input } from '../contract/routes';
import { CLOSABLE_KINDS, closeAttention } from '../db/recovery/attentions';
import type { Database } from '../db/query';
import { ServiceError } from '../errors';
import type { TemporalClient } from '../temporal/connect';
import type { WorkflowClients } from '../temporal/workflows';
import { auditCommand } from './audit-trail';
import type { CommandRoute } from './commands';

/** Attentions that an operator closes (rules 22.8). */

interface AttentionServices {
  db: Database;
  client: TemporalClient;
  workflows: Pick<WorkflowClients, 'orders'>;
}

const CLOSE = {
  summary: 'Close what an operator has dealt with',
  description: `Of an object of the list: ${CLOSABLE_KINDS.join(', ')}. What ends with its reason, such as an overdue outcome, is refused.`,
  params: z.object({ kind: z.enum(CLOSABLE_KINDS), id: z.string() }),
  body: z.object({
    reason: operatorReason().describe('What was done about it; recorded in the audit trail.'),
  }),
} as const satisfies CommandRoute;

/** The commands of the noun `attention` that the bearer-token host does not have. */
export const ATTENTION_COMMANDS = [
  {
    verb: 'close',
    route: CLOSE,
    run: async (
      { db, client, workflows }: AttentionServices,
      context: ManageContext,
      { params: object, body: { reason } }: Input<typeof CLOSE>,
    ) => {
      const closed = await db.transaction(async (trx) => {
        const attention = await closeAttention(trx, object);
        if (attention === undefined) {
          throw new ServiceError(
            'Conflict',
            'There is nothing to close: it is closed already, or ends by itself with its reason, such as an overdue outcome.',
          );
        }
        const before = { reason: attention.reason, since: attention.since };
        await auditCommand(trx, context, { action: 'attention.close', object, before, after: { reason } });
        return presentAttention(attention);
      });
      // One that has ended keeps what it shows.
      if (object.kind === 'order') {
        await tellWorkflow(context.log, 'the workflow of the order learns of it later', (deadline_at) =>
          client.withDeadline(deadline_at, () => workflows.orders.recordChanged(object.id)),
        );
      }
      return closed;
    },
  },
];
