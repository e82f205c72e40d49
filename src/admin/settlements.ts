import { z } from 'zod';
import type { ManageContext } from '../../api/manage/manager';
import { formatTimestamp, presentPage } from '../../api/present/format';
import { pageQuery } from '../contract/lists';
import type { Input } from '../contract/routes';
import { operatorReason } from '../contract/scalars';
import { requireReconciled } from '../db/backups/restores';
import { objectOf } from '../db/columns';
import type { Database } from '../db/query';
import {
  discardSettlement,
  listWaitingSettlements,
  lockSettlements,
  type SettledTransaction,
  type WaitingSettlement,
} from '../db/orders/settlements';
import { recordSettlementsAttention } from '../db/recovery/attentions';
import { ServiceError } from '../errors';
import { auditCommand } from './audit-trail';
import type { CommandRoute } from './commands';

/** Settlements that wait for their transactions (rules 20.20, 22.9). */

interface SettlementServices {
  db: Database;
}

const LIST = {
  summary: 'List the settlements that wait for their transactions',
  description: 'The last fetched first, each with its number and the transaction that the processor names.',
  query: pageQuery({}),
} as const satisfies CommandRoute;

const DISCARD = {
  summary: 'Discard a settlement that can never be written to a transaction',
  description: 'No transaction shows its payout and fee then. The audit trail keeps it, with the reason.',
  params: z.object({ number: z.string().regex(/^[1-9]\d{0,14}$/, 'Expected a number, as settlement list has it.') }),
  body: z.object({ reason: operatorReason().describe('Why, for example what the processor said of it.') }),
} as const satisfies CommandRoute;

/** The commands of the noun `settlement`. */
export const SETTLEMENT_COMMANDS = [
  {
    verb: 'list',
    route: LIST,
    run: async ({ db }: SettlementServices, _context: ManageContext, { query }: Input<typeof LIST>) =>
      presentPage(await listWaitingSettlements(db, query), presentSettlement),
  },
  {
    verb: 'discard',
    route: DISCARD,
    run: async (
      { db }: SettlementServices,
      context: ManageContext,
      { params: { number }, body: { reason } }: Input<typeof DISCARD>,
    ) =>
      await db.transaction(async (trx) => {
        await requireReconciled(trx);
        await lockSettlements(trx);
        const now = Date.now();
        const discarded = await discardSettlement(trx, Number(number), now);
        if (discarded === undefined) {
          throw new ServiceError('Conflict', `No settlement with the number ${number} waits.`);
        }
        const before = presentSettlement(discarded);
        await auditCommand(trx, context, {
          action: 'settlement.discard',
          object: { kind: 'settlement', id: number },
          before,
          after: { reason },
        });
        await recordSettlementsAttention(trx, now);
        return before;
      }),
  },
];

const presentSettlement = ({ fetched, ...settlement }: WaitingSettlement) => ({
  ...objectOf<SettledTransaction>(settlement),
  fetched: formatTimestamp(fetched),
});
