import { REASON_SEPARATOR } from '../../domain/attention';
import {
  afterMove,
  firstPollAt,
  isBackFromIssuer,
  lateApprovalPollAt,
  moveAttention,
  planMove,
  type StatusChange,
  type Move,
  type MoveDetails,
  type PlannedMove,
} from '../../domain/move';
import { transactionOf, type OrderSnapshot } from '../../domain/order-snapshot';
import { linkStatusAfter } from '../../domain/payment-link';
import {
  ORDER_MOVES,
  PAYMENT_LINK_MOVES,
  TRANSACTION_MOVES,
  isFinal,
  statusesBefore,
  type PaymentLinkStatus,
} from '../../domain/transitions';
import { preconditionFailed } from '../../errors';
import type { LabelsOf } from '../../metrics/catalogue';
import { incrementCounter } from '../../metrics/recorder';
import { currentRequestId } from '../../tracing/cause';
import { toIsoTime } from '../../time';
import { modifiedAtSql, nextVersionSql, prepared, type Database } from '../query';
import { nextWebhookNumber } from '../backups/restores';
import { loadOrderSnapshot } from './order-snapshot';

interface MoveResult {
  moved: number;
  delivery: number | null;
  /** For metrics: the kind of the order, and of its transaction, if that moved, the method. */
  kind: Labels['kind'] | null;
  payment_method: string | null;
  is_test: boolean | null;
}

type Labels = LabelsOf<'payments_transactions_total'>;

/** The move in one statement. Returns whether it was made, and the number of the webhook that is due. */
const writeMove = prepared<MoveResult>(
  'move order',
  `with locked as (
   select id from orders
   where id = :order_id and version = :version and status = any(:order_sources::text[])
   for update
 ), t as (
   update transactions set
     status = :transaction_to,
     ${modifiedAtSql('transactions')},
     payment_method = coalesce(:payment_method, payment_method),
     payment_method_brand = coalesce(:payment_method_brand, payment_method_brand),
     -- Those of the charged card are in the record already. An erasure may have removed its holder's name since.
     payment_method_details = case
       when payment_method_details ->> 'vault_token' = :payment_method_details::json ->> 'vault_token'
       then payment_method_details
       else coalesce(:payment_method_details::json, payment_method_details) end,
     response_code = coalesce(:response_code, response_code),
     response_code_description = coalesce(:response_code_description, response_code_description),
     challenge_url = coalesce(:challenge_url, challenge_url),
     received_3ds_result = coalesce(:received_3ds_result, received_3ds_result),
     liability_shift = coalesce(:liability_shift::boolean, liability_shift),
     captured_amount = coalesce(:captured_amount::bigint, captured_amount),
     poll_at = :poll_at,
     -- From now on the processor owes the outcome.
     polls = case when :is_back_from_issuer::boolean then 0 else polls end,
     polled_at = case when :is_back_from_issuer::boolean then null else polled_at end,
     -- Before it is accepted a transaction shows how long it can be paid, from then on how long it can be captured.
     capture_ends_at = coalesce(:capture_ends_at::timestamptz, capture_ends_at),
     expiration_period =
       case when :capture_ends_at::timestamptz is null then expiration_period else capture_period end
   from locked
   where transactions.id = :transaction_id::uuid and transactions.status = any(:transaction_sources::text[])
   returning transactions.id, transactions.payment_method
 ), o as (
   update orders set
     status = :order_to,
     ended = :ended,
     ended_by = case when :ended::text is not null then coalesce(ended_by, :ended_by) end,
     ended_at = case when :ended::text is not null and ended is null then :now::timestamptz else ended_at end,
     -- Recovery shows it in the table of attentions.
     attention = nullif(concat_ws('${REASON_SEPARATOR}', attention, :attention::text), ''),
     ${nextVersionSql('orders')},
     completed = case when :completes::boolean then :now::timestamptz else completed end
   from locked
   where orders.id = locked.id and (:transaction_id::uuid is null or exists (select 1 from t))
   returning orders.id, orders.kind, orders.webhook_url, orders.project_id, orders.related_order_id
 ), l as (
   -- The payment link moves with the order of its attempt.
   update payment_links set
     status = :link_to,
     ended_by = case when :link_to = 'expired' then 'time' end,
     completed_order_id = case when :link_to = 'completed' then o.id end,
     completed = case when :link_to = 'completed' then :now::timestamptz end,
     ${nextVersionSql('payment_links')}
   from o where payment_links.id = :payment_link_id::uuid and payment_links.status = any(:link_sources::text[])
 ), r as (
   -- A payment order shows how its follow-up orders stand, so it is another version.
   update orders set ${nextVersionSql('orders')}
   from o where orders.id = o.related_order_id
 ), e as (
   insert into transaction_events
     (transaction_id, n, event, source, result, authorization_iso_response_code, reason, occurred, noticed)
   select t.id, (select count(*) + 1 from transaction_events where transaction_id = t.id), :transaction_to, :source,
          :result,
          :authorization_iso_response_code, :reason, least(:occurred::timestamptz, :now::timestamptz), :now
   from t
 ), d as (
   insert into webhook_deliveries (order_id, n, project_id, url, next_attempt_at, created, request_id)
   select o.id, ${nextWebhookNumber('o.id')}, o.project_id, coalesce(o.webhook_url, p.webhook_url), :now, :now,
     :request_id::uuid
   from o join projects p on p.id = o.project_id
   where :status_changed::boolean and coalesce(o.webhook_url, p.webhook_url) is not null
   returning n
 ), v as (
   insert into webhook_events (project_id, order_id, n, created)
   select o.project_id, o.id, (select n from d), :now from o join projects p on p.id = o.project_id
   where :status_changed::boolean and p.is_test
 ), w as (
   insert into late_approval_watches (transaction_id, poll_at, began)
   select t.id, :late_approval_poll_at::timestamptz, :now from t where :late_approval_poll_at::timestamptz is not null
   on conflict do nothing
 )
 select (select count(*) from o) as moved, (select n from d) as delivery, (select kind from o) as kind,
   (select payment_method from t) as payment_method, (select is_test from projects where id = (select project_id from o)) as is_test`,
);

/**
 * Moves an order and its transaction: statuses, event, `modified`, the webhook that is due and the watch for a late
 * approval, in one SQL statement, guarded by the version from which the move was planned and by the statuses that the
 * table allows. Nothing else moves them (rules 4.6). If the order changed first, the same change is planned again from
 * the order as it is now. Repeat-safe: a move that was made already writes nothing. Returns the order as it is now.
 * Throws PreconditionFailed when the order changed first and `versions` does not allow its new version, ForbiddenMove
 * when a table does not allow the change.
 */
export async function moveOrder(
  db: Database,
  order: OrderSnapshot,
  change: StatusChange,
  details: MoveDetails,
): Promise<OrderSnapshot> {
  return await moveAsPlanned(db, order, () => ({ change, details }));
}

/**
 * Like moveOrder, for a change that depends on the order: `plan` is called again with the order as it is now when that
 * changed first. It returns undefined when there is nothing to write.
 */
export async function moveAsPlanned(
  db: Database,
  order: OrderSnapshot,
  plan: (order: OrderSnapshot) => PlannedMove | undefined,
): Promise<OrderSnapshot> {
  const planned = plan(order);
  const move = planned && planMove(order, planned.change);
  if (planned === undefined || move === undefined) return order;
  const { details } = planned;
  const [result] = await writeMove(db, bindingsOf(order, move, details));
  if (result?.moved === 1) {
    if (move.transaction !== undefined) countMove(move.transaction.to, result);
    return afterMove(order, move, result.delivery ?? undefined, details);
  }
  // The order changed first, usually by this move in a try whose answer was lost. Plan again from the current row.
  const current = await loadOrderSnapshot(db, order.id);
  if (details.versions?.includes(current.version) === false) {
    const again = plan(current);
    if (again !== undefined && planMove(current, again.change) !== undefined) throw preconditionFailed();
  }
  if (current.version === order.version) {
    throw new Error(`order ${order.id}: the guard refused ${order.status} → ${move.order_to}`);
  }
  return await moveAsPlanned(db, current, plan);
}

/** Counts a move of a transaction, after it was written. */
function countMove(status: Labels['status'], { kind, payment_method, is_test }: MoveResult): void {
  incrementCounter('payments_transactions_total', {
    kind: kind!,
    status,
    // Any further method counts as `other`.
    payment_method: payment_method as Labels['payment_method'],
    environment: is_test === true ? 'test' : 'live',
  });
}

/** The bindings of writeMove; `null` for values that the move does not change. */
function bindingsOf(order: OrderSnapshot, move: Move, details: MoveDetails) {
  const link_move = linkMoveOf(order, move, details.now);
  const late_approval_poll_at = lateApprovalPollAt(order, move, details);
  const poll_at = firstPollAt(move.transaction?.to, details.now);
  return {
    order_id: order.id,
    version: order.version,
    order_sources: move.status_changed ? statusesBefore(ORDER_MOVES, move.order_to) : [move.order_to],
    order_to: move.order_to,
    ended: move.ended ?? null,
    ended_by: move.ended === 'cancelled' ? details.source : 'service',
    attention: moveAttention(order, move) ?? null,
    status_changed: move.status_changed,
    completes: move.completes,
    transaction_id: move.transaction?.transaction_id ?? null,
    transaction_to: move.transaction?.to ?? null,
    transaction_sources: move.transaction ? statusesBefore(TRANSACTION_MOVES, move.transaction.to) : [],
    capture_ends_at:
      move.transaction?.capture_ends_at === undefined ? null : toIsoTime(move.transaction.capture_ends_at),
    payment_link_id: link_move === undefined ? null : (order.payment_link?.id ?? null),
    link_to: link_move?.to ?? null,
    link_sources: link_move?.sources ?? [],
    source: details.source,
    result: details.result ?? null,
    authorization_iso_response_code: details.authorization_iso_response_code ?? null,
    reason: details.reason ?? null,
    now: toIsoTime(details.now),
    occurred: details.occurred ?? null,
    payment_method: details.transaction?.payment_method ?? null,
    payment_method_brand: details.transaction?.payment_method_brand ?? null,
    payment_method_details: details.transaction?.payment_method_details
      ? JSON.stringify(details.transaction.payment_method_details)
      : null,
    response_code: details.transaction?.response_code ?? null,
    response_code_description: details.transaction?.response_code_description ?? null,
    challenge_url: details.transaction?.challenge_url ?? null,
    received_3ds_result: details.transaction?.received_3ds_result ?? null,
    liability_shift: details.transaction?.liability_shift ?? null,
    captured_amount: details.transaction?.captured_amount ?? null,
    late_approval_poll_at: late_approval_poll_at === undefined ? null : toIsoTime(late_approval_poll_at),
    poll_at: poll_at === undefined ? null : toIsoTime(poll_at),
    is_back_from_issuer: isBackFromIssuer(
      transactionOf(order, move.transaction?.transaction_id)?.status,
      move.transaction?.to,
    ),
    request_id: currentRequestId() ?? null,
  };
}

/** The status that the order's payment link gets with a move, and those that it may have before; `undefined`: no change. */
function linkMoveOf(
  { payment_link }: OrderSnapshot,
  move: Move,
  now: number,
): { to: PaymentLinkStatus; sources: PaymentLinkStatus[] } | undefined {
  if (payment_link === undefined || !move.status_changed) return undefined;
  // Until the attempt ends the link shows the order's new status, and is another version.
  if (!isFinal(ORDER_MOVES, move.order_to)) return { to: 'processing', sources: ['processing'] };
  const to = linkStatusAfter(move.order_to, payment_link, now);
  return { to, sources: statusesBefore(PAYMENT_LINK_MOVES, to) };
}
