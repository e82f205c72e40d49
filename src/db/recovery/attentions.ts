import { ATTENTION_KINDS, settlementsAttention, type AttentionKind } from '../../domain/attention';
import { POLLS_BEFORE_ATTENTION } from '../../domain/transaction';
import { UNPAID_ATTEMPT_STATUSES } from '../../domain/transitions';
import { toIsoTime } from '../../time';
import { queryRow, queryRows, requireRow, type Database, type SqlTransaction } from '../query';
import { openSettlements, type OpenSettlements } from '../orders/settlements';
import { readPage, type ListPage, type PageRequest } from '../pages';

/** The object that an operator has to look at. A webhook's id is `{order_id}-{n}`; a workflow's is its workflow id. */
export interface AttentionObject {
  kind: AttentionKind;
  id: string;
  project_id?: string | undefined;
}

export interface AttentionRow {
  id: string;
  object_kind: AttentionObject['kind'];
  object_id: string;
  project_id: string | null;
  reason: string;
  /** ISO 8601. */
  since: string;
  /** Null: an operator still has to act. */
  until: string | null;
}

/** The settlements and the search index as objects of attention. */
export const SETTLEMENTS: AttentionObject = { kind: 'settlements', id: 'settlements' };
export const SEARCH_INDEX: AttentionObject = { kind: 'search_index', id: 'search-index' };

/** Records why an operator has to act on the object; `undefined`: there is no reason any more. Repeat-safe. */
export async function recordAttention(
  db: Database,
  { kind, id, project_id }: AttentionObject,
  reason: string | undefined,
): Promise<void> {
  await queryRows(
    db,
    `with ended as (
       update attentions set until = clock_timestamp()
       where object_kind = :kind and object_id = :id and until is null and reason is distinct from :reason::text
     )
     insert into attentions (object_kind, object_id, project_id, reason)
     select :kind, :id, :project_id, :reason::text where :reason::text is not null
     on conflict do nothing`,
    { kind, id, project_id: project_id ?? null, reason: reason ?? null },
  );
}

/**
 * Records whether an operator has to act on the settlements that wait, after `lockSettlements`. Returns how many wait,
 * and since when. `now` in epoch milliseconds.
 */
export async function recordSettlementsAttention(trx: SqlTransaction, now: number): Promise<OpenSettlements> {
  const open = await openSettlements(trx);
  await recordAttention(trx, SETTLEMENTS, settlementsAttention(open.waiting_since, now));
  return open;
}

/** An order whose attention may have changed. */
export interface AttentionCandidate {
  order_id: string;
  /** The processor has not answered for long about a late approval. */
  is_late_approval_overdue: boolean;
  /** Nor about an operation of the order that it announced. */
  is_announced_overdue: boolean;
  /** The reasons of its open rows in the table. */
  open_reasons: string[];
}

/** Candidates that one statement returns. */
const CANDIDATES = 1_000;

/**
 * Orders whose attention by the record may differ from the one in the table, by their ids: the next ones `after` an id,
 * or the first. `overdue_since`, epoch milliseconds: late approvals and announced operations about which the processor is
 * polled since then or longer are overdue.
 */
export async function findAttentionCandidates(
  db: Database,
  { overdue_since, after }: { overdue_since: number; after: string | undefined },
): Promise<AttentionCandidate[]> {
  return await queryRows<AttentionCandidate>(
    db,
    `with late as (
       select distinct t.order_id from late_approval_watches w join transactions t on t.id = w.transaction_id
       where w.began <= :overdue_since
     ), announced as (
       select original_order_id as order_id from announced_operations where announced <= :overdue_since
     ), candidates as (
       select order_id from late
       union
       select order_id from announced
       union
       select order_id from transactions
       where status = any(:open::text[]) and (answered_amount is not null
         or polls >= ${POLLS_BEFORE_ATTENTION} and (status <> 'pending' or poll_at >= expires_at))
       union
       select o.id from orders o
       where o.attention is not null and not exists (
         select from attentions a
         where a.object_kind = 'order' and a.object_id = o.id::text and a.until is null and a.reason = o.attention
       )
       union
       select a.object_id::uuid from attentions a left join orders o on o.id = a.object_id::uuid
       where a.object_kind = 'order' and a.until is null and o.attention is distinct from a.reason
     )
     select c.order_id, c.order_id in (select order_id from late) as is_late_approval_overdue,
       c.order_id in (select order_id from announced) as is_announced_overdue, array(
       select a.reason from attentions a
       where a.object_kind = 'order' and a.object_id = c.order_id::text and a.until is null
     ) as open_reasons
     from candidates c where :after::uuid is null or c.order_id > :after::uuid
     order by c.order_id limit ${CANDIDATES}`,
    {
      overdue_since: toIsoTime(overdue_since),
      open: [...UNPAID_ATTEMPT_STATUSES, 'processing'],
      after: after ?? null,
    },
  );
}

/** Webhooks that one statement looks at. */
const WEBHOOKS = 1_000;

/**
 * Ends the attention to failed webhooks whose receiver has got the same event by a redelivery, or a later one of the
 * order, after which it reads the order as it is. Looks at the next ones `after` an id, an empty text for the first.
 * Returns the last id; `undefined`: there are no more.
 */
export async function endDeliveredAttentions(db: Database, after: string): Promise<string | undefined> {
  const { last, is_full } = await requireRow<{ last: string; is_full: boolean }>(
    db,
    `with looked_at as (
       select id, object_id from attentions
       where object_kind = 'webhook' and until is null and object_id > :after
       order by object_id limit ${WEBHOOKS}
     ), ended as (
       -- An array and offset have each looked up: joins may read all attentions, and the webhooks of all orders.
       update attentions set until = clock_timestamp()
       where until is null and id = any(array(
         select l.id from looked_at l where exists (
           select 1 from webhook_deliveries d join webhook_deliveries r on r.order_id = d.order_id
           where d.order_id = left(l.object_id, 36)::uuid and d.n = substr(l.object_id, 38)::integer
             and r.status = 'delivered' and coalesce(r.redelivery_of, r.n) >= coalesce(d.redelivery_of, d.n)
           offset 0)))
     )
     select max(object_id) as last, count(*) = ${WEBHOOKS} as is_full from looked_at`,
    { after },
  );
  return is_full ? last : undefined;
}

/** The id of the order or payment link of a workflow, in SQL; that of a webhook has it too. */
const OBJECT_OF_WORKFLOW = `case when a.object_id ~ '^(order|webhook|link):[0-9a-f-]{36}'
  then cast(split_part(a.object_id, ':', 2) as uuid) end`;

/**
 * Ends the attention to workflows whose record was lost, of those of these orders and payment links that the record has
 * again. The webhooks of an order are sent again with it.
 */
export async function endLostRecords(db: Database, ids: readonly string[]): Promise<void> {
  await queryRows(
    db,
    `update attentions a set until = clock_timestamp()
     where object_kind = 'workflow' and until is null and ${OBJECT_OF_WORKFLOW} = any(:ids::uuid[]) and (
       exists (select from orders o where o.id = ${OBJECT_OF_WORKFLOW})
       or exists (select from payment_links l where l.id = ${OBJECT_OF_WORKFLOW}))`,
    { ids },
  );
}

/** Kinds of objects whose attention an operator can close. That of the others ends with its reason. */
export const CLOSABLE_KINDS = ['order', 'webhook', 'workflow'] as const satisfies readonly AttentionObject['kind'][];

/**
 * Closes the attention to an object, and returns it. `undefined`: none is open, or it is that of an order whose reason
 * is not stored but computed from the record, such as an overdue outcome, and would be there again at once.
 */
export async function closeAttention(
  trx: SqlTransaction,
  { kind, id }: { kind: (typeof CLOSABLE_KINDS)[number]; id: string },
): Promise<AttentionRow | undefined> {
  if (kind === 'order') {
    const cleared = await queryRows(
      trx,
      'update orders set attention = null where cast(id as text) = :id and attention is not null returning 1',
      { id },
    );
    if (cleared.length === 0) return undefined;
  }
  return await queryRow<AttentionRow>(
    trx,
    `update attentions set until = clock_timestamp()
     where object_kind = :kind and object_id = :id and until is null returning *`,
    { kind, id },
  );
}

/** The open ones, or all, newest first. */
export async function listAttentions(
  db: Database,
  { status }: { status: 'open' | 'all' },
  page: PageRequest,
): Promise<ListPage<AttentionRow>> {
  const key = [
    ['since', 'timestamptz'],
    ['id', 'uuid'],
  ] as const;
  const where = [status === 'open' && 'until is null'];
  return await readPage(db, page, { select: 'select * from attentions', where, key });
}

/** More of a kind are not counted. */
const COUNTED_MAX = 10_000;

/** How many objects of each kind an operator has to look at, COUNTED_MAX at most. Kinds without one are left out. */
export async function countOpenAttentions(db: Database): Promise<{ kind: AttentionKind; count: number }[]> {
  return await queryRows(
    db,
    `select kind, count from unnest(:kinds::text[]) kind, lateral (
       select count(*)::int as count from (
         select 1 from attentions where object_kind = kind and until is null limit ${COUNTED_MAX}) open
     ) counted where count > 0 order by kind`,
    { kinds: [...ATTENTION_KINDS] },
  );
}
