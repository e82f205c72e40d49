import type { CaptureMode } from '../../domain/amounts';
import type { PaymentId } from '../../domain/follow-up';
import type { PaymentMethodDetails } from '../../domain/new-order';
import type { AmountMismatch } from '../../domain/outcome';
import { FINAL_TRANSACTION_STATUSES, OPEN_ATTEMPT_STATUSES } from '../../domain/transitions';
import { toIsoTime } from '../../time';
import { hasRows, prepared, queryRow, queryRows, required, sqlList, type Database } from '../query';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';

/** Details for requests to the processor: always the ids of the payment order, even for its follow-up orders. */
export interface Payment {
  order_id: string;
  transaction_id: string;
  project_id: string;
  is_test: boolean;
  payment_method_details: PaymentMethodDetails;
  capture_mode: CaptureMode | null;
  receiver_account_token: string | null;
}

/** Whether transaction `t` holds reserved money: the conditions of the index transactions_reserved, in SQL. */
export const RESERVED = `t.capture_mode is not null and t.status = 'accepted' and t.captured_amount + t.voided_amount < t.amount`;

/** An operator has set the outcome of transaction `t`. */
export const IS_SET_BY_HAND = `exists (
  select 1 from transaction_events e where e.transaction_id = t.id and e.source = 'operator')`;

/** Whether the charge of transaction `t` of payment order `o` was sent, or may have been, in SQL; see outcomeAwaitedFrom. */
export const MAY_BE_CHARGED = `(t.status <> 'new' or t.charge_began or o.charged_by = 'token')`;

/** Whether the processor has ever approved transaction `t`, in SQL. */
const HAS_APPROVAL = `exists (select 1 from transaction_events e where e.transaction_id = t.id and e.event = 'accepted')`;
/** The same where the status alone may tell it. */
export const IS_APPROVED = `(t.status = 'accepted' or ${HAS_APPROVAL})`;

const OPEN_ATTEMPT = sqlList(OPEN_ATTEMPT_STATUSES);

const selectPayment = prepared<Payment>(
  'find payment',
  `select o.id as order_id, t.id as transaction_id, o.project_id, p.is_test,
     coalesce(t.payment_method_details, '{}'::json) as payment_method_details,
     t.capture_mode, t.receiver_account_token
   from transactions t join orders o on o.id = t.order_id join projects p on p.id = o.project_id
   where t.id = :transaction_id`,
);

/** Throws RecordMissing when there is no such transaction. */
export async function findPayment(db: Database, transaction_id: string): Promise<Payment> {
  const [payment] = await selectPayment(db, { transaction_id });
  return required(payment, `transaction ${transaction_id}`);
}

/**
 * Records a poll without an outcome, and the time of the next one. Epoch milliseconds. `is_unknown`: the processor gave
 * no usable answer. Any other answer clears a recorded mismatch. Returns `false` when there is no such transaction with
 * an open outcome.
 */
export async function recordPoll(
  db: Database,
  {
    transaction_id,
    now,
    poll_at,
    is_unknown,
  }: { transaction_id: string; now: number; poll_at: number | undefined; is_unknown: boolean },
): Promise<boolean> {
  return await hasRows(
    db,
    `update transactions set polls = polls + 1, polled_at = :now, poll_at = coalesce(:poll_at, poll_at),
       answered_amount = case when :is_unknown::boolean then answered_amount end,
       answered_currency = case when :is_unknown::boolean then answered_currency end
     where id = :transaction_id and status in ${OPEN_ATTEMPT}
     returning id`,
    { transaction_id, now: toIsoTime(now), poll_at: poll_at === undefined ? null : toIsoTime(poll_at), is_unknown },
  );
}

/** Records that the processor answered about another amount or currency than that of an open transaction. */
export async function recordMismatch(
  db: Database,
  transaction_id: string,
  { amount, currency }: Pick<AmountMismatch, 'amount' | 'currency'>,
): Promise<void> {
  await queryRows(
    db,
    `update transactions set answered_amount = :amount, answered_currency = :currency
     where id = :transaction_id and status in ${OPEN_ATTEMPT}`,
    { transaction_id, amount, currency },
  );
}

/** A payment that ended; how far its clock is ahead of real time, in milliseconds. */
export type EndedPayment = PaymentId & {
  project_id: string;
  clock_offset_ms: number;
  /** Minor units. */
  amount: number;
  currency: string;
  capture_mode: CaptureMode | null;
  /** Less what was won back. */
  charged_back_amount: number;
  /** The processor has announced a chargeback of it, which is not recorded yet (rules 10.9). */
  is_chargeback_announced: boolean;
};

/**
 * The order and project of a transaction that ended and was never paid: an approval of it is given back. Whether the
 * processor is polled for one is decided by lateApprovalPollAt. A declined transaction counts only `with_declined`,
 * where there is evidence of an approval (rules 10.18), or while it is watched. `undefined` for any other transaction,
 * and for a card check: an approval of 0 has nothing to return.
 */
export async function endedUnpaid(
  db: Database,
  transaction_id: string,
  { with_declined = false }: { with_declined?: boolean } = {},
): Promise<EndedPayment | undefined> {
  return await queryRow<EndedPayment>(
    db,
    `select t.order_id as original_order_id, t.id as original_transaction_id, o.project_id,
       ${CLOCK_OFFSET} as clock_offset_ms, t.amount, t.currency, t.capture_mode,
       t.charged_back_amount - t.won_back_amount as charged_back_amount,
       exists (
         select 1 from announced_operations a where a.original_transaction_id = t.id and a.kind = 'chargeback'
       ) as is_chargeback_announced
     from transactions t join orders o on o.id = t.order_id
     where t.id = :transaction_id and o.kind = 'payment' and t.amount > 0
       and not ${HAS_APPROVAL}
       and t.status in ${sqlList(FINAL_TRANSACTION_STATUSES)}
       and (t.status <> 'error' or :with_declined::boolean
         or exists (select 1 from late_approval_watches w where w.transaction_id = t.id))`,
    { transaction_id, with_declined },
  );
}
