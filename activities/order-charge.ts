import { moveAsPlanned } from '../src/db/orders/move-order';
import { findPayment, recordMismatch, type Payment } from '../src/db/orders/transactions';
import { isExpired } from '../src/domain/order';
import { latestAttempt, transactionOf, withAnswered, type OrderSnapshot } from '../src/domain/order-snapshot';
import {
  isApproved,
  isChallenge,
  isMismatch,
  isStillOpen,
  planOutcome,
  type ChargeOutcome,
} from '../src/domain/outcome';
import { orderPagePath } from '../src/domain/page-paths';
import { chargeIdempotencyKey, chargeOperation, expectedCharge } from '../src/domain/transaction';
import type { TransactionStatus } from '../src/domain/transitions';
import type { Processor } from '../src/processor/client';
import type { OperationRequest } from '../src/processor/wire';
import { currentTimeOf } from '../src/time';
import type { TransactionInput } from '../workflows/messages';
import { currentInstant } from './activity-time';
import { withContradiction } from './order-outcome';
import type { TimeOfTry, ActivityServices } from './services';

/** A requested charge. */
interface ChargeRequest extends TimeOfTry {
  transaction: TransactionInput;
  is_test: boolean;
}

/**
 * Charges the last transaction of an order and records the outcome. A retry may run after expiry: it sends nothing, and
 * the workflow polls whether an earlier try has charged.
 */
export async function charge(
  services: ActivityServices,
  order: OrderSnapshot,
  request: ChargeRequest,
): Promise<OrderSnapshot> {
  const { transaction, is_test, now } = request;
  const { id: transaction_id, expires_at } = latestAttempt(order)!;
  if (isExpired(expires_at, Math.max(now, currentTimeOf(order)))) return order;
  const { payment_method, payment_method_brand, payment_method_details = {}, capture_mode = null } = transaction;
  const payment = {
    transaction_id,
    project_id: order.project_id,
    is_test,
    payment_method_details,
    capture_mode,
    // A retry vaults the account again; use the token that was stored first.
    receiver_account_token: transaction.receiver_account_token
      ? (await findPayment(services.db, transaction_id)).receiver_account_token
      : null,
  };
  const outcome = await sendCharge(services, order, payment);
  const answered = currentInstant(request);
  // Of two requests with different cards the first is charged; the second is not recorded.
  return outcome === 'key_used_for_other_request'
    ? await recordChargeOutcome(services, order, { transaction_id, outcome: 'unknown', now: answered })
    : await recordChargeOutcome(services, order, {
        transaction_id,
        outcome,
        now: answered,
        paid_with: { payment_method, payment_method_brand, payment_method_details },
      });
}

/** Sends the charge request. Every repeat must be identical: the processor refuses a key sent with another body. */
export async function sendCharge(
  { processor, public_url }: ActivityServices,
  { id: order_id, amount, currency }: OrderSnapshot,
  payment: Omit<Payment, 'order_id'>,
): ReturnType<Processor['execute']> {
  const { transaction_id, project_id, is_test, payment_method_details, capture_mode, receiver_account_token } = payment;
  const operation: OperationRequest = {
    operation: chargeOperation({ amount, capture_mode }),
    order_id,
    transaction_id,
    project_id,
    is_test,
    amount,
    currency,
    vault_token: payment_method_details.vault_token ?? '',
    return_url: `${public_url}${orderPagePath(order_id, transaction_id)}?from=issuer`,
    ...(receiver_account_token && { receiver_account_token }),
  };
  return await processor.execute(operation, chargeIdempotencyKey(transaction_id));
}

/** Polls the outcome of a charge. */
export async function findCharge({ processor }: ActivityServices, order: OrderSnapshot, transaction_id: string) {
  const capture_mode = transactionOf(order, transaction_id)?.capture?.capture_mode ?? null;
  return await processor.findOperation(
    chargeIdempotencyKey(transaction_id),
    expectedCharge({ ...order, transaction_id, capture_mode }),
  );
}

/**
 * Records the outcome of a charge, or the lack of one. `before`: the order before the processor was asked; an
 * answer that the outcome is still open is ignored if the order was moved since. An approval of a charge that is
 * recorded as declined is given back (rules 10.18); another contradiction of an outcome that was set by hand needs
 * attention (rules 10.14). Returns the order afterwards.
 */
export async function recordChargeOutcome(
  { db, workflows }: ActivityServices,
  before: OrderSnapshot,
  facts: Omit<ChargeOutcome, 'machine_now'>,
): Promise<OrderSnapshot> {
  const { transaction_id, outcome, now } = facts;
  if (isMismatch(outcome)) await recordMismatch(db, transaction_id, outcome);
  const order = isMismatch(outcome) ? withAnswered(before, transaction_id, outcome) : before;
  const statusIn = (one: OrderSnapshot) => transactionOf(one, transaction_id)?.status;
  const moveFrom = (status: TransactionStatus | undefined) => (current: OrderSnapshot) => {
    if (isStillOpen(outcome) && statusIn(current) !== status) return undefined;
    const plan = planOutcome(current, { ...facts, machine_now: Date.now() });
    return plan.action === 'move' ? plan : undefined;
  };
  const moved = await moveAsPlanned(db, order, moveFrom(statusIn(order)));
  // A challenge after expires_at is recorded, then the order expires.
  const recorded = isChallenge(outcome) ? await moveAsPlanned(db, moved, moveFrom('pending')) : moved;
  if (isApproved(outcome) && statusIn(recorded) === 'error') {
    await workflows.follow_ups.startReversal({ transaction_id, now, with_declined: true });
    return recorded;
  }
  return await withContradiction(db, recorded, transaction_id, outcome);
}
