import { columnsOf, epochMsSql } from '../columns';
import { queryRow, queryRows, type Database } from '../query';
import { readPage, type List, type ListPage, type PageRequest } from '../pages';

/** A request of a project, as it was answered (rules 25). */
export interface LoggedRequest {
  /** Its request id. */
  id: string;
  project_id: string;
  api_key_id: string;
  /** ISO 8601. */
  received: string;
  operation: string;
  method: string;
  /** The path of the operation, with the names of its parameters. */
  path: string;
  /** Null: the whole answer was not sent. */
  status: number | null;
  duration_ms: number;
  error_type: string | null;
  /** Paths of the wrong fields. */
  error_fields: string[] | null;
  idempotency_key: string | null;
  is_repeat: boolean;
  order_id: string | null;
  transaction_id: string | null;
  payment_link_id: string | null;
  n: number | null;
  object_id: string | null;
}

const COLUMNS = columnsOf<LoggedRequest>()(
  'id, project_id, api_key_id, received, operation, method, path, status, duration_ms, error_type, error_fields, idempotency_key, is_repeat, order_id, transaction_id, payment_link_id, n, object_id',
);
const VIEW = `select ${COLUMNS} from logged_requests`;

/** Writes rows in one statement. Repeat-safe. */
export async function insertLoggedRequests(db: Database, rows: readonly LoggedRequest[]): Promise<void> {
  await queryRows(
    db,
    `insert into logged_requests (${COLUMNS})
     select ${COLUMNS} from json_populate_recordset(null::logged_requests, :rows::json)
     on conflict do nothing`,
    { rows: JSON.stringify(rows) },
  );
}

/** The request; `undefined` when there is none. */
export async function findLoggedRequest(db: Database, id: string): Promise<LoggedRequest | undefined> {
  return await queryRow<LoggedRequest>(db, `${VIEW} where id = :id`, { id });
}

interface RequestFilter {
  /** ISO 8601. */
  since?: string | undefined;
  until?: string | undefined;
  only_errors?: boolean | undefined;
  operation?: string | undefined;
  status?: number | undefined;
}

/** The requests of a project, newest first. */
export async function listLoggedRequests(
  db: Database,
  project_id: string,
  filter: RequestFilter,
  page: PageRequest,
): Promise<ListPage<LoggedRequest>> {
  return await readPage(db, page, listOf(VIEW, { project_id }, filter));
}

/** The requests of a project about an order, newest first: those that named it, and the one that created it. */
export async function listLoggedRequestsOf(
  db: Database,
  { project_id, order_id }: { project_id: string; order_id: string },
  filter: RequestFilter,
  page: PageRequest,
): Promise<ListPage<LoggedRequest>> {
  // Two parts with an index each. A follow-up order is the object of a request that named another order.
  const select = `${VIEW} where order_id = :order_id
     union all ${VIEW} where object_id = :order_id and object_id <> order_id`;
  return await readPage(db, page, listOf(select, { project_id, order_id }, filter));
}

/** A request for an order that was answered. */
export interface ReadOfOrder extends Pick<LoggedRequest, 'id' | 'api_key_id' | 'status'> {
  order_id: string;
  /** Epoch milliseconds. */
  received: number;
}

/** The requests of the project for these orders (`getOrder`), oldest first. */
export async function readsOfOrders(
  db: Database,
  { project_id, order_ids }: { project_id: string; order_ids: readonly string[] },
): Promise<ReadOfOrder[]> {
  return await queryRows<ReadOfOrder>(
    db,
    `select id, order_id, api_key_id, status, ${epochMsSql('received')} as received from logged_requests
     where order_id = any(:order_ids::uuid[]) and project_id = :project_id and operation = 'getOrder' and method = 'GET'
     order by logged_requests.received, id`,
    { project_id, order_ids },
  );
}

function listOf(
  select: string,
  bindings: Readonly<Record<string, string>>,
  { since, until, only_errors = false, operation, status }: RequestFilter,
): List {
  return {
    select,
    equal: { operation, status },
    where: [
      'project_id = :project_id',
      since !== undefined && 'received >= :since',
      until !== undefined && 'received <= :until',
      only_errors && 'error_type is not null',
    ],
    bindings: { ...bindings, since, until },
    key: [
      ['received', 'timestamptz'],
      ['id', 'uuid'],
    ],
  };
}
