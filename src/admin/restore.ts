import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { ManageContext } from '../../api/manage/manager';
import { formatTimestamp } from '../../api/present/format';
import { instant, operatorReason } from '../contract/scalars';
import type { Input } from '../contract/routes';
import type { Database, SqlTransaction } from '../db/query';
import {
  beginRestore,
  endRestore,
  newestChange,
  openRestore,
  postponeEnds,
  recordReconciliation,
  type Restore,
} from '../db/backups/restores';
import { extendPayloadKeyUses } from '../db/builds/payload-key-uses';
import { requestSearchRebuild } from '../db/search/search-outbox';
import { ServiceError, validationError } from '../errors';
import { ENDS_AFTER_MS, reconcile } from '../recovery/restore/reconcile';
import type { Processor } from '../processor/client';
import type { TemporalClient } from '../temporal/connect';
import type { WorkflowClients } from '../temporal/workflows';
import { alone } from './alone';
import { auditCommand } from './audit-trail';
import type { CommandRoute } from './commands';

/** After the record was restored from a backup (rules 28). */

interface RestoreServices {
  db: Database;
  client: TemporalClient;
  openProcessor: () => Processor;
  workflows: WorkflowClients;
}

/** What changed last before the backup may have begun earlier. Milliseconds. */
const MARGIN_MS = 10 * 60_000;

const BEGIN = {
  summary: 'Begin after the record was restored from a backup',
  description: 'API, pages and bearer-token host refuse everything that would write, with 503, until the restore ends.',
  body: z.object({
    since: instant()
      .optional()
      .describe('What is newer may be missing; by default ten minutes before the newest change.'),
    again: z
      .boolean()
      .optional()
      .describe('Begin a restore that is under way anew: the record was restored once more, and is to be reconciled.'),
  }),
} as const satisfies CommandRoute;

const RECONCILE = {
  summary: 'Write again what the record lost',
  description:
    'Compares the record with the workflows and the operations of the processor. Workers have to run. Safe to repeat.',
} as const satisfies CommandRoute;

const STATUS = {
  summary: 'Show the restore that is under way',
  description: 'With what a person has to decide.',
} as const satisfies CommandRoute;

const END = {
  summary: 'End the restore',
  description: 'Everything is accepted again. Refused while anything is open, unless it is accepted with a reason.',
  body: z.object({
    accept: operatorReason()
      .optional()
      .describe('Why it ends although something is open; recorded in the audit trail.'),
  }),
} as const satisfies CommandRoute;

/**
 * Two reconciliations at once would end each other's workflows, and one that goes on after the end would change what is
 * paid meanwhile. One that began before `begin` knows nothing of the record that was restored since.
 */
const ONE_RECONCILIATION = { name: 'reconciliation', another: 'Another reconciliation' };

/** The commands of the noun `restore`. */
export const RESTORE_COMMANDS = [
  {
    verb: 'begin',
    route: BEGIN,
    run: async ({ db }: RestoreServices, context: ManageContext, { body }: Input<typeof BEGIN>) => {
      const now = new Date();
      const since =
        body.since === undefined ? ((await newestChange(db)) ?? now.getTime()) - MARGIN_MS : Date.parse(body.since);
      if (since > now.getTime()) throw validationError('since', 'Expected an instant that has passed.');
      return await alone(db, ONE_RECONCILIATION, async () => {
        if (body.again !== true) await requireNone(db, now.getTime());
        const restore = await db.transaction(async (trx) => {
          const began = await beginRestore(trx, uuidv7(), since, now);
          await extendPayloadKeyUses(trx);
          // The index has orders that the record lost; new orders get their numbers.
          await requestSearchRebuild(trx, now.getTime());
          await audit(trx, context, 'restore.begin', began, { since: began.since });
          return began;
        });
        await postponeEnds(db, Date.parse(restore.since), now.getTime() + ENDS_AFTER_MS);
        return presentRestore(restore);
      });
    },
  },
  {
    verb: 'reconcile',
    route: RECONCILE,
    run: async (services: RestoreServices, context: ManageContext) => {
      await requireRestore(services.db);
      return await alone(services.db, ONE_RECONCILIATION, async (requireLease) => {
        const restore = await requireRestore(services.db);
        // Each object is written again for good by itself, and a process that is killed writes no end.
        await services.db.transaction((trx) => audit(trx, context, 'restore.reconcile', restore, { state: 'begun' }));
        const processor = services.openProcessor();
        const { compared, rewritten, open_items, failed } = await reconcile(
          { ...services, processor, requireLease },
          { since: Date.parse(restore.since), began: Date.parse(restore.began) },
        ).finally(() => void processor.close());
        await requireLease();
        await services.db.transaction(async (trx) => {
          const reconciled = failed === 0 ? new Date() : null;
          // What failed earlier was ended again then: this one did not find it any more.
          const earlier = restore.reconciled === null ? restore.open_items : [];
          const open = [...earlier.filter(({ is_ended_again }) => is_ended_again), ...open_items];
          await recordReconciliation(trx, restore, { rewritten, open_items: open }, reconciled);
          const counts = { compared, rewritten, open: open.length, failed };
          await audit(trx, context, 'restore.reconcile', restore, { state: 'ended', ...counts });
        });
        return {
          compared,
          failed,
          ...presentRestore(await requireRestore(services.db)),
          ...(failed > 0 && {
            problem: `${failed} objects could not be read or written. Run restore reconcile again.`,
          }),
        };
      });
    },
    failed: ({ failed }: { failed: number }) => failed > 0,
  },
  {
    verb: 'status',
    route: STATUS,
    run: async ({ db }: RestoreServices) => presentRestore(await requireRestore(db)),
  },
  {
    verb: 'end',
    route: END,
    run: async ({ db }: RestoreServices, context: ManageContext, { body: { accept } }: Input<typeof END>) => {
      await requireRestore(db);
      return await alone(db, ONE_RECONCILIATION, async (requireLease) => {
        const restore = await requireRestore(db);
        const open = restore.open_items.length;
        if (accept === undefined && (restore.reconciled === null || open > 0)) {
          const why = restore.reconciled === null ? 'It was not reconciled yet.' : `${open} objects are open.`;
          throw new ServiceError('Conflict', `${why} Reconcile, or end it with --accept and a reason.`);
        }
        await requireLease();
        await db.transaction(async (trx) => {
          await endRestore(trx, restore, new Date());
          await audit(trx, context, 'restore.end', restore, {
            open,
            ...(accept !== undefined && { accepted: accept }),
          });
        });
        return { ended: restore.id };
      });
    },
  },
];

/**
 * Throws Conflict while a restore is under way: only its operator knows whether that is of this record, or came with the
 * backup. `now` in epoch milliseconds.
 */
async function requireNone(db: Database, now: number): Promise<void> {
  const restore = await openRestore(db);
  if (restore === undefined) return;
  // The command that began it may have been killed before this.
  if (restore.reconciled === null) await postponeEnds(db, Date.parse(restore.since), now + ENDS_AFTER_MS);
  throw new ServiceError(
    'Conflict',
    `A restore that began at ${formatTimestamp(restore.began)} is under way: go on with restore reconcile. ` +
      'If the record was restored from a backup since then, run restore begin --again true.',
  );
}

async function requireRestore(db: Database): Promise<Restore> {
  const restore = await openRestore(db);
  if (restore === undefined) throw new ServiceError('NotFound', 'No restore is under way.');
  return restore;
}

const audit = async (trx: SqlTransaction, context: ManageContext, action: string, { id }: Restore, after: object) =>
  await auditCommand(trx, context, { action, object: { kind: 'restore', id }, after });

const presentRestore = ({ id, began, since, reconciled, rewritten, open_items }: Restore) => ({
  id,
  began: formatTimestamp(began),
  since: formatTimestamp(since),
  ...(reconciled !== null && { reconciled: formatTimestamp(reconciled) }),
  rewritten,
  open: open_items.map(({ object, reason }) => `${object}: ${reason}`),
});
