import type { ManageContext } from '../../api/manage/manager';
import type { SqlTransaction } from '../db/connection';
import { recordChange } from '../db/projects/audit-trail';

/** Writes the entry of a command in the audit trail, under the name of the user. */
export async function auditCommand(
  trx: SqlTransaction,
  { caller, request }: ManageContext,
  change: Parameters<typeof recordChange>[1],
): Promise<void> {
  await recordChange(trx, change, { actor: caller.actor, request_id: request.request_id }, new Date());
}
