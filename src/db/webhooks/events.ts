import { validationError } from '../../errors';
import { prepared, type Database } from '../query';

/** The webhook events of test projects, for listeners (rules 13.19). */

/** A change of the status of an order. */
export interface WebhookEvent {
  order_id: string;
  project_id: string;
  /** The number of the delivery of the same event; null when there was no address to send it to. */
  n: number | null;
  /** The number of the event. */
  id: string;
  /** ISO 8601, by the clock of the order. */
  created: string;
}

/** A place between the events of a project: the transaction and the number of the event before it. */
export interface EventPosition {
  xid: string;
  id: string;
}

/** A project and the position up to which a listener knows its events. */
export interface KnownEvents extends EventPosition {
  project_id: string;
}

/** The events and the position after the last of them. */
export interface EventsAfter {
  events: WebhookEvent[];
  position: EventPosition;
}

/** An event is read once all transactions before its own have ended; later events have later positions. */
const IS_COMMITTED = 'e.xid < pg_snapshot_xmin(pg_current_snapshot())';

/** The position before all events that are still to be written. */
const selectCurrent = prepared<{ xid: string }>(
  'current position of events',
  'select pg_snapshot_xmin(pg_current_snapshot())::text as xid',
);

const selectEvents = prepared<WebhookEvent & Pick<EventPosition, 'xid'>>(
  'events after',
  `select e.order_id, e.project_id, e.n, e.id::text as id, e.created, e.xid::text as xid
   from webhook_events e
   where e.project_id = :project_id and (e.xid, e.id) > (:xid::xid8, :id::bigint) and ${IS_COMMITTED}
   order by e.xid, e.id limit :limit`,
);

const selectKnownChanged = prepared<{ place: number }>(
  'projects with events',
  `select known.place::int as place
   from unnest(:project_ids::uuid[], :xids::xid8[], :ids::bigint[]) with ordinality known (project_id, xid, id, place)
   where exists (
     select 1 from webhook_events e
     where e.project_id = known.project_id and (e.xid, e.id) > (known.xid, known.id) and ${IS_COMMITTED}
   )`,
);

/** The position of now: later events are after it. */
export async function currentPosition(db: Database): Promise<EventPosition> {
  const [row] = await selectCurrent(db, {});
  return { xid: row!.xid, id: '0' };
}

/** The oldest events of the project after a position. */
export async function eventsAfter(
  db: Database,
  { project_id, xid, id }: KnownEvents,
  limit: number,
): Promise<EventsAfter> {
  const rows = await selectEvents(db, { project_id, xid, id, limit });
  const last = rows.at(-1);
  return {
    events: rows,
    position: last === undefined ? { xid, id } : { xid: last.xid, id: last.id },
  };
}

/** Those of the projects that have events after their positions. One statement, whatever their number. */
export async function projectsWithEvents<Known extends KnownEvents>(
  db: Database,
  known: readonly Known[],
): Promise<Known[]> {
  const places = await selectKnownChanged(db, {
    project_ids: known.map(({ project_id }) => project_id),
    xids: known.map(({ xid }) => xid),
    ids: known.map(({ id }) => id),
  });
  return places.map(({ place }) => known[place - 1]!);
}

/** The position as listeners know it. */
export const eventCursorOf = ({ xid, id }: EventPosition): string => `${xid}-${id}`;

/** Throws a ValidationError for a text that eventCursorOf has not written. */
export function positionAt(cursor: string): EventPosition {
  const [, xid, id] = /^(\d{1,19})-(\d{1,18})$/.exec(cursor) ?? [];
  if (xid === undefined || id === undefined) {
    throw validationError('cursor', 'Expected the `cursor` of an earlier answer.');
  }
  return { xid, id };
}
