import type { SqlTransaction } from '../db/query';
import { recordChange, type Actor } from '../db/projects/audit-trail';

/** The user of a command, and the id of its run. */
export interface CommandAuthor {
  caller: { actor: Actor };
  request: { request_id: string };
}

/** Writes the entry of a command in the audit trail, under the name of the user. */
export async function auditCommand(
  trx: SqlTransaction,
  { caller, request }: CommandAuthor,
  change: Parameters<typeof recordChange>[1],
): Promise<void> {
  await recordChange(trx, change, { actor: caller.actor, request_id: request.request_id }, new Date());
}
