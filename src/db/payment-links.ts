import type { AcceptedRequest } from '../domain/accepted-request';
import type { LinkEndedBy, NewPaymentLink, PaymentLinkSnapshot } from '../domain/payment-link';
import {
  PAYMENT_LINK_MOVES,
  statusesBefore,
  type OrderStatus,
  type PaymentLinkStatus,
  type ProjectStatus,
} from '../domain/transitions';
import { tooLate } from '../errors';
import { toIsoTime } from '../time';
import { epochMsSql, objectOf, type RowOf } from './columns';
import { nextVersionSql, queryRow, queryRows, required, type Database } from './query';
import { claimBindings, claimRequest } from './requests/request-claims';
import { BY_CREATED, createdIn, readPart, type ListPart, type Part } from './pages';
import { LINK_CLOCK_OFFSET } from './sandbox-clocks/sandbox-clocks';

/**
 * A payment link with its orders as the database holds it; absent values are null. Instants are ISO 8601 texts in UTC.
 */
export interface StoredPaymentLink {
  id: string;
  project_id: string;
  merchant_id: string;
  merchant_name: string;
  is_test: boolean;
  merchant_order_id: string;
  amount: number;
  currency: string;
  description: string | null;
  payment_methods: string[] | null;
  /** Methods active in the project. */
  project_payment_methods: string[];
  /** A suspended project takes no new payments (rules 21.10). */
  project_status: ProjectStatus;
  /** The project's default time for paying. */
  transaction_expiration_period: string;
  expiration_period: string;
  expires_at: string;
  return_url: string | null;
  webhook_url: string | null;
  status: PaymentLinkStatus;
  ended_by: LinkEndedBy | null;
  /** How far its clock is ahead of real time, in milliseconds. */
  clock_offset_ms: number;
  attempts: number;
  completed_order_id: string | null;
  version: number;
  created: string;
  modified: string;
  completed: string | null;
  /** Its payment orders, oldest first. */
  orders: { id: string; status: OrderStatus }[];
}

const PAYMENT_LINK_VIEW = `
  select l.*, p.merchant_id, m.name as merchant_name, p.is_test, p.payment_methods as project_payment_methods,
         p.status as project_status, p.transaction_expiration_period, ${LINK_CLOCK_OFFSET} as clock_offset_ms,
         coalesce((
           select json_agg(json_build_object('id', o.id, 'status', o.status) order by o.created, o.id)
           from orders o where o.related_payment_link_id = l.id
         ), '[]'::json) as orders
  from payment_links l join projects p on p.id = l.project_id join merchants m on m.id = p.merchant_id`;

/** Everything that a GET or the hosted page shows of one link; `undefined` when there is none. */
export async function findStoredPaymentLink(db: Database, id: string): Promise<StoredPaymentLink | undefined> {
  return await queryRow<StoredPaymentLink>(db, `${PAYMENT_LINK_VIEW} where l.id = :id`, { id });
}

/** A part of the project's links that were created in a period, newest first. */
export async function listStoredPaymentLinks(
  db: Database,
  project_id: string,
  { period, limits, after }: ListPart,
): Promise<Part<StoredPaymentLink>> {
  const list = { select: PAYMENT_LINK_VIEW, ...createdIn(project_id, period), key: BY_CREATED };
  return await readPart(db, list, limits, after);
}

/** The link as decisions need it; `undefined` when there is none. */
export async function findPaymentLinkSnapshot(db: Database, id: string): Promise<PaymentLinkSnapshot | undefined> {
  const row = await queryRow<RowOf<PaymentLinkSnapshot>>(
    db,
    `select l.id, l.project_id, l.status, l.ended_by, l.version, l.attempts, ${epochMsSql('l.expires_at')} as expires_at,
            l.completed_order_id, ${LINK_CLOCK_OFFSET} as clock_offset_ms,
            array(select o.id from orders o where o.related_payment_link_id = l.id order by o.created, o.id) as order_ids
     from payment_links l where l.id = :id`,
    { id },
  );
  return row && objectOf(row);
}

/** Like findPaymentLinkSnapshot, for a link that must exist: throws RecordMissing when it does not. */
export async function loadPaymentLinkSnapshot(db: Database, id: string): Promise<PaymentLinkSnapshot> {
  return required(await findPaymentLinkSnapshot(db, id), `payment link ${id}`);
}

/**
 * Writes a new link. Repeat-safe: an existing link is returned as it is. Throws ServiceUnavailable when there is none
 * and the request came too late or was withdrawn (rules 10.5). Instants in epoch milliseconds.
 */
export async function insertPaymentLink(
  db: Database,
  link: NewPaymentLink,
  { created, expires_at, request }: { created: number; expires_at: number; request: AcceptedRequest },
): Promise<PaymentLinkSnapshot> {
  await queryRows(
    db,
    `with ${claimRequest()}
     insert into payment_links (id, project_id, merchant_order_id, amount, currency, description, payment_methods, expiration_period,
                                expires_at, return_url, webhook_url, status, created, modified)
     select :id, :project_id, :merchant_order_id, :amount, :currency, :description, :payment_methods::json, :expiration_period,
            :expires_at, :return_url, :webhook_url, 'new', :created, :created
     from in_time
     on conflict (id) do nothing`,
    {
      ...link,
      description: link.description ?? null,
      payment_methods: link.payment_methods === undefined ? null : JSON.stringify(link.payment_methods),
      return_url: link.return_url ?? null,
      webhook_url: link.webhook_url ?? null,
      created: toIsoTime(created),
      expires_at: toIsoTime(expires_at),
      ...claimBindings(request),
    },
  );
  const stored = await findPaymentLinkSnapshot(db, link.id);
  if (stored === undefined) throw tooLate();
  return stored;
}

/**
 * Ends a link that is not paid and has no payment in progress: when it has expired, or on request of its merchant, then
 * at one of `versions` if given. Repeat-safe. Returns the link as it is now. `now` in epoch milliseconds.
 */
export async function recordPaymentLinkEnd(
  db: Database,
  id: string,
  { ended_by, versions, now }: { ended_by: LinkEndedBy; versions?: readonly number[] | undefined; now: number },
): Promise<PaymentLinkSnapshot> {
  await queryRows(
    db,
    `update payment_links set
       status = 'expired', ${nextVersionSql('payment_links')},
       ended_by = case when expires_at <= :now::timestamptz then 'time' else :ended_by end
     where id = :id and status = any(:sources::text[])
       and (:ended_by = 'merchant' or expires_at <= :now::timestamptz)
       and (:versions::int[] is null or version = any(:versions::int[]))`,
    {
      id,
      ended_by,
      now: toIsoTime(now),
      versions: versions ?? null,
      sources: statusesBefore(PAYMENT_LINK_MOVES, 'expired').filter((status) => status !== 'processing'),
    },
  );
  return await loadPaymentLinkSnapshot(db, id);
}
