import { v7 as uuidv7 } from 'uuid';
import type { Difference, IncidentEvent, IncidentKind } from '../../domain/incident';
import { toIsoTime } from '../../time';
import { queryRow, queryRows, type Database, type SqlTransaction } from '../query';
import { readPage, type ListPage, type PageRequest } from '../pages';

/** How an event to the operator's webhook ended; `none`: there is no address. */
export type IncidentEventResult = 'sent' | 'failed' | 'none';

/** An incident as it is recorded (rules 26.5). Amounts in minor units. */
export interface StoredIncident extends Difference {
  id: string;
  opened_at: string;
  last_seen_at: string;
  closed_at: string | null;
  closed_by: 'audit' | 'operator' | null;
  reason: string | null;
  opened_event: IncidentEventResult | null;
  closed_event: IncidentEventResult | null;
}

const DIFFERENCE =
  'kind, object_id, project_id, order_id, transaction_id, currency, record_amount, processor_amount, description';

/** Opens incidents, or brings open ones up to date. */
const RECORD = `
  insert into incidents (id, ${DIFFERENCE}, opened_at, last_seen_at)
  select id, ${DIFFERENCE}, :now, :now from json_populate_recordset(null::incidents, :rows::json) d
  where exists (
    select 1 from incidents o where o.closed_at is null and o.kind = d.kind and o.object_id = d.object_id
  ) or not exists (
    select 1 from incidents c where c.closed_by = 'operator' and c.kind = d.kind and c.object_id = d.object_id
      and c.currency = d.currency and c.record_amount = d.record_amount and c.processor_amount = d.processor_amount)
  on conflict (kind, object_id) where closed_at is null do update set
    record_amount = excluded.record_amount, processor_amount = excluded.processor_amount,
    currency = excluded.currency, description = excluded.description,
    last_seen_at = greatest(incidents.last_seen_at, excluded.last_seen_at)
  returning id, xmax = 0 as is_new`;

/**
 * Opens an incident for each difference, unless it has an open one, or an operator has closed one about the same
 * amounts (rules 26.6). An open one gets the amounts of now and the time. Returns the ids of the new ones. `now` in
 * epoch milliseconds.
 */
export async function recordDifferences(
  db: Database,
  differences: readonly Difference[],
  now: number,
): Promise<string[]> {
  if (differences.length === 0) return [];
  // One statement cannot write a row twice.
  const by_object = new Map(differences.map((one) => [`${one.kind} ${one.object_id}`, one]));
  const rows = [...by_object.values()].map((difference) => ({
    ...difference,
    // A sum may be larger; the description of the difference has it.
    record_amount: Math.min(difference.record_amount, Number.MAX_SAFE_INTEGER),
    processor_amount: Math.min(difference.processor_amount, Number.MAX_SAFE_INTEGER),
    id: uuidv7(),
  }));
  const bindings = { rows: JSON.stringify(rows), now: toIsoTime(now) };
  const opened = await db.transaction(async (trx) => {
    // An operator may be closing one: the statement after this one knows whether that is done.
    await queryRows(
      trx,
      `select from incidents where closed_at is null and (kind, object_id) in (
         select kind, object_id from json_populate_recordset(null::incidents, :rows::json)) order by id for update`,
      bindings,
    );
    return await queryRows<{ id: string; is_new: boolean }>(trx, RECORD, bindings);
  });
  return opened.filter(({ is_new }) => is_new).map(({ id }) => id);
}

/** Closes an open incident. Returns it; undefined when it is closed already. `now` in epoch milliseconds. */
export async function closeIncident(
  db: Database | SqlTransaction,
  id: string,
  { closed_by, reason, now }: { closed_by: 'audit' | 'operator'; reason: string; now: number },
): Promise<StoredIncident | undefined> {
  return await queryRow<StoredIncident>(
    db,
    `update incidents set closed_at = greatest(opened_at, :now), closed_by = :closed_by, reason = :reason
     where id = :id and closed_at is null returning *`,
    { id, closed_by, reason, now: toIsoTime(now) },
  );
}

/** Records how the event to the operator's webhook ended. */
export async function recordIncidentEvent(
  db: Database,
  id: string,
  event: IncidentEvent,
  result: IncidentEventResult,
): Promise<void> {
  const column = event === 'opened' ? 'opened_event' : 'closed_event';
  await queryRows(db, `update incidents set ${column} = :result where id = :id and ${column} is null`, { id, result });
}

export async function findIncident(db: Database, id: string): Promise<StoredIncident | undefined> {
  return await queryRow<StoredIncident>(db, 'select * from incidents where id = :id', { id });
}

/** Incidents, the newest first. */
export async function listIncidents(
  db: Database,
  {
    is_open,
    kind,
    project_id,
  }: { is_open?: boolean | undefined; kind?: string | undefined; project_id?: string | undefined },
  page: PageRequest,
): Promise<ListPage<StoredIncident>> {
  return await readPage(db, page, {
    select: 'select * from incidents',
    equal: { kind },
    where: [
      is_open !== undefined && `(closed_at is null) = cast(:is_open as boolean)`,
      project_id !== undefined && 'project_id = cast(:project_id as uuid)',
    ],
    bindings: { is_open, project_id },
    key: [
      ['opened_at', 'timestamptz'],
      ['id', 'uuid'],
    ],
  });
}

/** Incidents that are open, or whose last event is not sent yet, after an id, by id. */
export async function unfinishedIncidents(
  db: Database,
  after: string | undefined,
  limit: number,
): Promise<StoredIncident[]> {
  return await queryRows<StoredIncident>(
    db,
    `select * from incidents where (closed_at is null or closed_event is null)
       and (cast(:after as uuid) is null or id > cast(:after as uuid)) order by id limit :limit`,
    { after: after ?? null, limit },
  );
}

/** How many incidents are open, by kind: the number for operators' metrics. Kinds without one are left out. */
export async function countOpenIncidents(db: Database): Promise<{ kind: IncidentKind; count: number }[]> {
  return await queryRows(
    db,
    'select kind, count(*)::int as count from incidents where closed_at is null group by kind order by kind',
  );
}
