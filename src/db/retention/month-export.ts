import type { TimeSpan } from '../../domain/period';
import { toIsoTime } from '../../time';
import { queryColumn, queryRows, type Database } from '../query';

/** What an auditor's files of a month hold (rules 29.7). Rows are JSON objects as texts. */

/** The ids of all projects. */
export async function projectIds(db: Database): Promise<string[]> {
  return await queryColumn<string>(db, 'select id from projects order by id');
}

/** The condition of orders that were created in a month, for orderIdsByCreation. */
export const createdInMonth = ({ since, until }: TimeSpan) => ({
  sql: `o.created >= to_timestamp(:since::float8 / 1000) and o.created < to_timestamp(:until::float8 / 1000)`,
  bindings: { since, until },
});

/** The events of the transactions of some orders, each transaction's in their order. */
export async function eventLines(db: Database, order_ids: readonly string[]): Promise<string[]> {
  return await queryColumn<string>(
    db,
    `select row_to_json(e)::text as line from (
       select t.order_id, e.transaction_id, e.n, e.id, e.event, e.source, e.result, e.reason,
         e.authorization_iso_response_code, e.occurred, e.noticed
       from transactions t join transaction_events e on e.transaction_id = t.id
       where t.order_id = any(:order_ids::uuid[])
       order by array_position(:order_ids::uuid[], t.order_id), t.attempt, e.n
     ) e`,
    { order_ids },
  );
}

/** Entries that one statement reads. */
const ENTRIES = 1_000;

/** The entries of the audit trail of a month, oldest first, in parts. */
export async function* auditLines(db: Database, { since, until }: TimeSpan): AsyncGenerator<string[]> {
  for (let after = 0; ;) {
    const rows = await queryRows<{ n: number; line: string }>(
      db,
      `select n, row_to_json(a)::text as line from audit_trail a
       where n > :after and at >= :since and at < :until order by n limit ${ENTRIES}`,
      { after, since: toIsoTime(since), until: toIsoTime(until) },
    );
    if (rows.length === 0) return;
    yield rows.map(({ line }) => line);
    after = rows.at(-1)!.n;
  }
}
