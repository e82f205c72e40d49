import type { CaptureMode } from '../src/domain/amounts';
import { insertTransaction } from '../src/db/insert-order';
import { moveOrder, type MoveDetails } from '../src/db/move-order';
import { isLate } from '../src/db/in-time';
import { findOrder, loadOrder } from '../src/db/order-record';
import { parseDuration } from '../src/domain/duration';
import { isExpired, isEnding, isOpen, transactionExpiresAt, type Ending } from '../src/domain/order';
import { ForbiddenMove, type Change } from '../src/domain/move';
import { awaitsOutcome, lastTransaction, transactionOf, type OrderRecord } from '../src/domain/order-record';
import { chargeKey, type EventSource } from '../src/domain/transaction';
import { ORDER_MOVES, TRANSACTION_MOVES, isFinal, mayMove } from '../src/domain/transitions';
import { findPayment } from '../src/db/transactions';
import type { PaymentMethodDetails } from '../src/domain/new-order';
import type { OperationOutcome } from '../src/processor/client';
import type { Operation } from '../src/processor/wire';
import { preconditionFailed, tooLate } from '../src/errors';
import type { CreateOrderInput, SubmitPaymentInput } from '../workflows/messages';
import { withFailures } from './failure';
import { moveOf } from './outcome';
import { rowOf, writeOrder } from './records';
import type { AtTime, Services } from './services';

/** What a customer pays with. */
interface PaidWith {
  payment_method: string;
  payment_method_details: PaymentMethodDetails;
  payment_method_brand?: string | undefined;
}

/** What a charge needs: the order, and who pays with what. */
interface Charge extends PaidWith {
  order: OrderRecord;
  transaction_id: string;
  project_id: string;
  is_test: boolean;
  capture_mode?: CaptureMode | null | undefined;
  receiver_account_token?: string | null | undefined;
}

/** Charges through the processor and writes its answers. Every charge is sent under a key derived from its transaction. */
export function processorActivities(services: Pick<Services, 'db' | 'processor' | 'public_url'>) {
  const { db, processor, public_url } = services;

  /** The charge request. Every repeat must be identical: the processor refuses a key sent with another body. */
  function chargeOf({
    order,
    transaction_id,
    project_id,
    is_test,
    payment_method_details,
    capture_mode,
    receiver_account_token,
  }: Omit<Charge, 'payment_method'>): Operation {
    return {
      // An authorization only reserves money; an order of 0 only checks the card (rules 5.3).
      operation: capture_mode || order.amount === 0 ? 'authorize' : 'sale',
      order_id: order.id,
      transaction_id,
      project_id,
      is_test,
      amount: order.amount,
      currency: order.currency,
      vault_token: payment_method_details.vault_token ?? '',
      return_url: `${public_url}/pay/${order.id}/${transaction_id}/?from=issuer`,
      ...(receiver_account_token && { receiver_account_token }),
    };
  }

  /** Sends one charge and writes its outcome. */
  async function chargeAndRecord(charge: Charge, now: number): Promise<OrderRecord> {
    const { order, transaction_id, payment_method, payment_method_brand, payment_method_details } = charge;
    const answer = await processor.execute(chargeOf(charge), chargeKey(transaction_id));
    // The first of two requests with different cards is the one that is charged: the second is not recorded.
    if (answer === 'key_used_for_other_request') return await recordOutcome(order, transaction_id, 'unknown', now);
    return await recordOutcome(order, transaction_id, answer, now, {
      payment_method,
      payment_method_brand,
      payment_method_details,
    });
  }

  /** Writes what the processor answered about a charge. `paid_with`: what the charge was sent with, where it is not recorded yet. */
  async function recordOutcome(
    order: OrderRecord,
    transaction_id: string,
    answer: OperationOutcome,
    now: number,
    paid_with: Partial<PaidWith> = {},
  ): Promise<OrderRecord> {
    const { to, details } = moveOf(answer, now);
    const transaction = transactionOf(order, transaction_id);
    // A challenge that we learn of too late: there is no time left for it.
    const is_over = to === 'pending' && transaction !== undefined && isExpired(transaction.expires_at, now);
    if (answer === 'unknown' || is_over) {
      // Neither may overwrite an outcome that was recorded meanwhile.
      const present = await loadOrder(db, order.id);
      const status = transactionOf(present, transaction_id)?.status ?? 'new';
      const is_news =
        answer === 'unknown' ? status === 'new' : status === 'pending' || mayMove(TRANSACTION_MOVES, status, 'pending');
      if (!is_news) return present;
    }
    const capture = transaction?.capture;
    const change: Change & { transaction_id: string } = {
      transaction_id,
      to,
      ...(to === 'error' && isExpired(order.expires_at, now) ? { ended: 'expired' } : {}),
      ...(to === 'accepted' && capture ? { capture_ends_at: now + parseDuration(capture.capture_period) } : {}),
    };
    // A sale takes the money at once (rules 8.1).
    const captured = to === 'accepted' && !capture ? { captured_amount: order.amount } : {};
    const after = await moveUnlessOver(order, change, {
      ...details,
      transaction: { ...paid_with, ...details.transaction, ...captured },
    });
    return is_over ? await moveOrder(db, after, { ended: 'expired' }, { source: 'service', now }) : after;
  }

  /**
   * Like moveOrder, but what was recorded meanwhile stays: a transaction that was cancelled or expired, and any outcome when there is
   * none to write. If the processor took the money of the former, the order's workflow gives it back: it knew that a charge might be
   * under way.
   */
  async function moveUnlessOver(
    order: OrderRecord,
    change: Change & { transaction_id: string },
    details: MoveDetails,
  ): Promise<OrderRecord> {
    try {
      return await moveOrder(db, order, change, details);
    } catch (error) {
      if (!(error instanceof ForbiddenMove)) throw error;
      const present = await loadOrder(db, order.id);
      if (
        change.to !== 'processing' &&
        change.to !== 'pending' &&
        !isEnding(transactionOf(present, change.transaction_id)?.status)
      ) {
        throw error;
      }
      return present;
    }
  }

  /**
   * The row of an announced attempt does not show whether it was charged in time, so the processor is asked until it says. Throws
   * ServiceUnavailable when it never was.
   */
  async function requireSent(transaction_id: string): Promise<void> {
    const sent = await processor.findOperation(chargeKey(transaction_id));
    if (sent === 'not_found') throw tooLate();
    if (sent === 'unknown') throw new Error('the processor does not say whether the attempt was charged');
  }

  return withFailures({
    /** Writes an order that came with a card token and charges it, in one activity, as every step is safe to repeat. */
    async createAndCharge(input: CreateOrderInput & AtTime): Promise<OrderRecord> {
      const order = await writeOrder(services, input);
      const { transaction } = input;
      const last = lastTransaction(order);
      // A repeat may come after the transaction has expired; the workflow then asks whether it was charged.
      if (!transaction || last?.status !== 'new' || isExpired(last.expires_at, latestClock(input.now))) return order;
      return await chargeAndRecord(
        {
          order,
          transaction_id: transaction.id,
          project_id: input.order.project_id,
          is_test: input.is_test,
          payment_method: transaction.payment_method,
          payment_method_brand: transaction.payment_method_brand,
          payment_method_details: transaction.payment_method_details ?? {},
          capture_mode: transaction.capture_mode,
          // A repeat vaults the account again; use the token stored first.
          receiver_account_token:
            transaction.receiver_account_token && (await findPayment(db, transaction.id)).receiver_account_token,
        },
        input.now,
      );
    },

    /** Charges one payment attempt of an existing order; the first attempt may have been written with the order. */
    async chargeAttempt(input: SubmitPaymentInput & AtTime & { order: OrderRecord }): Promise<OrderRecord> {
      const { transaction, now } = input;
      const announced = input.order.transactions.find((one) => one.attempt === transaction.attempt);
      const id = announced?.id ?? transaction.id;
      const order = announced
        ? await loadOrder(db, input.order.id)
        : await insertTransaction(db, input.order, rowOf({ ...transaction, id }), {
            created: now,
            expires_at: transactionExpiresAt({
              order_expires_at: input.order.expires_at,
              created: now,
              period: transaction.period,
            }),
            not_after: input.not_after,
          });
      if (transactionOf(order, id)?.status !== 'new') return order;
      if (announced && isLate(input.not_after)) await requireSent(id);
      return await chargeAndRecord({ ...input, ...transaction, order, transaction_id: id }, now);
    },

    /**
     * Asks for an open outcome. A charge the processor never saw is sent once more while the customer's time lasts; after that the
     * attempt is over (rules 10.2). Without an answer the order is returned unchanged.
     */
    async pollCharge({
      order,
      transaction_id,
      now,
    }: { order: OrderRecord; transaction_id: string } & AtTime): Promise<OrderRecord> {
      const key = chargeKey(transaction_id);
      const answer = await processor.findOperation(key);
      if (answer === 'unknown') return order;
      // Another worker may have moved the order and died before reporting it.
      const present = await loadOrder(db, order.id);
      if (answer !== 'not_found') return await recordOutcome(present, transaction_id, answer, now);
      const transaction = transactionOf(present, transaction_id);
      if (transaction === undefined || !isOpen(transaction.status)) return present;
      if (isExpired(transaction.expires_at, latestClock(now))) {
        return await moveUnlessOver(
          present,
          { transaction_id, to: 'error', ...(isExpired(present.expires_at, now) ? { ended: 'expired' } : {}) },
          { source: 'service', now, result: 'failed' },
        );
      }
      const again = await processor.execute(
        chargeOf({ ...(await findPayment(db, transaction_id)), order: present }),
        key,
      );
      return typeof again === 'string' ? present : await recordOutcome(present, transaction_id, again, now);
    },

    /**
     * Ends an unpaid order and its open transaction together: cancelled or expired. It asks the processor first, and what was paid
     * counts: a worker may have died right after charging, or the customer may have passed 3-D Secure without our being told.
     * Without an answer the order is returned unchanged. Throws PreconditionFailed when the order is at none of `versions`.
     */
    async endUnpaidOrder({
      order,
      ended,
      source,
      versions,
      now,
    }: {
      order: OrderRecord;
      ended: Ending;
      source: EventSource;
      versions?: number[] | undefined;
    } & AtTime): Promise<OrderRecord> {
      let present = (await findOrder(db, order.id)) ?? order;
      if (isFinal(ORDER_MOVES, present.status)) return present;
      if (versions?.includes(present.version) === false) throw preconditionFailed();
      const last = lastTransaction(present);
      if (last?.status === 'new' || last?.status === 'pending') {
        const answer = await processor.findOperation(chargeKey(last.id));
        if (answer === 'unknown') return present;
        if (answer !== 'not_found') present = await recordOutcome(present, last.id, answer, now);
      }
      if (isFinal(ORDER_MOVES, present.status) || awaitsOutcome(present)) return present;
      return await moveOrder(db, present, { ended }, { source, now, versions: versions && [present.version] });
    },
  });
}

/** The workflow's time or the machine's, whichever is later: the task may have waited for a worker. Epoch milliseconds. */
function latestClock(now: number): number {
  return Math.max(now, Date.now());
}
