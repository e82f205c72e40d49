import { CHANGELOG } from '../../../src/contract/manage/changelog';
import { listChanges } from '../../../src/db/projects/audit-trail';
import type { ManageOperations, ManageServices } from '../manager';
import { presentChange, presentPage } from '../present';

/** The audit trail, and the changelog of the API (rules 21.14, 21.15). */
export function historyOperations({ db }: Pick<ManageServices, 'db'>) {
  return {
    listAuditTrail: async ({ caller }, { query: { actor, object, since, ...page } }) =>
      presentPage(
        await listChanges(db, { merchant_id: caller.merchant_id, actor, object, since }, page),
        presentChange,
      ),

    getChangelog: () =>
      Promise.resolve({ items: CHANGELOG.map(({ version, date, text }) => ({ version, date, text })) }),
  } satisfies Partial<ManageOperations>;
}
