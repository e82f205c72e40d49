import { CHANGELOG } from '../../../src/contract/manage/changelog';
import { listAttentions } from '../../../src/db/recovery/attentions';
import { listChanges } from '../../../src/db/projects/audit-trail';
import { presentPage } from '../../present/format';
import type { ManageOperations, ManageServices } from '../manager';
import { presentAttention, presentChange } from '../present';

/** The audit trail, what needs an operator, and the changelog of the API (rules 21.14, 21.15, 24.19). */
export function historyOperations({ db }: Pick<ManageServices, 'db'>) {
  return {
    listAuditTrail: async ({ caller }, { query: { actor, object, since, ...page } }) =>
      presentPage(
        await listChanges(db, { merchant_id: caller.merchant_id, actor, object, since }, page),
        presentChange,
      ),

    listAttentions: async (_context, { query: { status, ...page } }) =>
      presentPage(await listAttentions(db, { status }, page), presentAttention),

    getChangelog: () =>
      Promise.resolve({ items: CHANGELOG.map(({ version, date, text }) => ({ version, date, text })) }),
  } satisfies Partial<ManageOperations>;
}
