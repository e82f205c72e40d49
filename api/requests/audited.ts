import { recordChange, type AuditedChange } from '../../src/db/projects/audit-trail';
import type { Database, SqlTransaction } from '../../src/db/query';
import type { Write } from '../operation';
import type { ChangeAuthor } from './author';

/** The answer to a change, and its entry in the audit trail; no entry where nothing has changed. */
export interface Changed<A> {
  answer: A;
  change?: AuditedChange;
}

/** A change with its entry in the audit trail: both are written, or neither (rules 21.14). */
export function audited<A>(
  { db }: { db: Database },
  by: Pick<ChangeAuthor, 'actor' | 'request_id'>,
  work: (trx: SqlTransaction, now: Date) => Promise<Changed<A>>,
): Write<A> {
  return {
    db,
    async write(trx) {
      const now = new Date();
      const { answer, change } = await work(trx, now);
      if (change) await recordChange(trx, change, by, now);
      return answer;
    },
  };
}

/**
 * The entry of a change: the object before and after as the host shows it, without secrets. The action begins with the
 * kind of the object, for example `project.update`.
 */
export function changeOf(
  action: string,
  { id, merchant_id }: { id: string; merchant_id: string | null },
  shown: { before?: object; after?: object },
): AuditedChange {
  return { action, object: { kind: action.split('.', 1)[0]!, id }, merchant_id, ...shown };
}
