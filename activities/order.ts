import { findFollowUps, insertFollowUp } from '../src/db/orders/follow-ups';
import { beginAttempt, insertOrder } from '../src/db/orders/insert-order';
import { moveAsPlanned, moveOrder } from '../src/db/orders/move-order';
import { findOrder, loadOrder } from '../src/db/orders/order-record';
import { findPayment, recordMismatch, recordPoll, type Payment } from '../src/db/orders/transactions';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import type { NewTransaction } from '../src/domain/new-order';
import { isExpired, transactionExpiresAt, type Ending } from '../src/domain/order';
import {
  awaitsOutcome,
  lastTransaction,
  transactionOf,
  withAnswered,
  withPoll,
  type OrderRecord,
} from '../src/domain/order-record';
import { isMismatch, isOutcomeMissing, planOutcome, type ChargeOutcome } from '../src/domain/outcome';
import { chargeIdempotencyKey, chargeOperation, expectedCharge, type EventSource } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { preconditionFailed } from '../src/errors';
import { closingOrderId, transactionId } from '../src/ids';
import type { Operation } from '../src/processor/wire';
import type { CaptureOrVoidInput, CreateOrderInput, SubmitPaymentInput, TransactionInput } from '../workflows/messages';
import { withFailures } from './failure';
import type { AtTime, Services } from './services';

/** A charge that is to be sent. */
interface Charge {
  order: OrderRecord;
  /** The payment as recorded, or as it will be. */
  payment: Omit<Payment, 'order_id'>;
  /** The payment method, where that is not recorded yet. */
  paid_with?: ChargeOutcome['paid_with'];
}

/**
 * Activities of an order's workflow. Every charge is sent under a key derived from its transaction, so each is safe to
 * repeat.
 */
export function orderActivities({
  db,
  processor,
  workflows,
  public_url,
}: Pick<Services, 'db' | 'processor' | 'workflows' | 'public_url'>) {
  /** The insert behind createOrder and createAndCharge; repeat-safe. */
  async function writeOrder(input: CreateOrderInput & AtTime) {
    const { order, transaction, period, payment_link, now, request_id, not_after } = input;
    // The order of a payment link never outlives its link (rules 19.7).
    const expires_at = Math.min(now + period, payment_link?.expires_at ?? Infinity);
    const transaction_expires_at = transactionExpiresAt({
      order_expires_at: expires_at,
      created: now,
      period: transaction?.period ?? period,
    });
    const details = { created: now, expires_at, transaction_expires_at, payment_link, request_id, not_after };
    return await insertOrder(db, order, transaction && withoutPeriod(transaction), details);
  }

  /** The charge request. Every repeat must be identical: the processor refuses a key sent with another body. */
  function operationOf({ order, payment }: Charge): Operation {
    const { transaction_id, project_id, is_test, payment_method_details, capture_mode, receiver_account_token } =
      payment;
    return {
      operation: chargeOperation({ amount: order.amount, capture_mode }),
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

  /**
   * Sends one charge and records its outcome. A repeat may come when the time for paying is over: nothing is sent then,
   * and the workflow asks whether an earlier try has charged.
   */
  async function charge(request: Charge, now: number): Promise<OrderRecord> {
    const { order, payment, paid_with } = request;
    const { transaction_id } = payment;
    const { expires_at } = transactionOf(order, transaction_id)!;
    if (isExpired(expires_at, Math.max(now, Date.now() + order.clock_offset_ms))) return order;
    const outcome = await processor.execute(operationOf(request), chargeIdempotencyKey(transaction_id));
    // The first of two requests with different cards is the one that is charged: the second is not recorded.
    return outcome === 'key_used_for_other_request'
      ? await recordOutcome(order, { transaction_id, outcome: 'unknown', now })
      : await recordOutcome(order, { transaction_id, outcome, now, paid_with });
  }

  /** Asks the processor for the state of a charge. */
  async function findCharge(order: OrderRecord, transaction_id: string) {
    const capture_mode = transactionOf(order, transaction_id)?.capture?.capture_mode ?? null;
    return await processor.findOperation(
      chargeIdempotencyKey(transaction_id),
      expectedCharge({ ...order, transaction_id, capture_mode }),
    );
  }

  /** Records what became known about a charge. Returns the order as it is then. */
  async function recordOutcome(before: OrderRecord, facts: Omit<ChargeOutcome, 'machine_now'>): Promise<OrderRecord> {
    const { transaction_id, outcome } = facts;
    if (isMismatch(outcome)) await recordMismatch(db, transaction_id, outcome);
    const order = isMismatch(outcome) ? withAnswered(before, transaction_id, outcome) : before;
    const move = (current: OrderRecord) => {
      const plan = planOutcome(current, { ...facts, machine_now: Date.now() });
      return plan.action === 'move' ? plan : undefined;
    };
    const moved = await moveAsPlanned(db, order, move);
    // A challenge that came too late is recorded, then expires.
    return await moveAsPlanned(db, moved, move);
  }

  /**
   * Starts the workflows of captures and voids that this activity wrote. Those of others were started by theirs, or are
   * recovery's (rules 10.13): a payment may have thousands.
   */
  async function startFollowUps(ids: readonly string[]): Promise<void> {
    for (const written of await findFollowUps(db, ids)) await workflows.follow_ups.start(written);
  }

  return withFailures({
    /** Writes a new order. Throws ServiceUnavailable when it does not exist and the request came too late. */
    createOrder: (input: CreateOrderInput & AtTime): Promise<OrderRecord> => writeOrder(input),

    /** The order as recorded; null when there is none, RecordMissing for an order that `must_exist`. */
    findOrder: async ({
      order_id,
      must_exist = false,
    }: {
      order_id: string;
      must_exist?: boolean;
    }): Promise<OrderRecord | null> =>
      must_exist ? await loadOrder(db, order_id) : ((await findOrder(db, order_id)) ?? null),

    /** Writes an order that came with a card token and charges it, in one activity, as every step is safe to repeat. */
    async createAndCharge(input: CreateOrderInput & AtTime): Promise<OrderRecord> {
      const order = await writeOrder(input);
      const { transaction, now, is_test } = input;
      if (!transaction || lastTransaction(order)?.status !== 'new') return order;
      const { id: transaction_id, payment_method_details = {}, capture_mode = null } = transaction;
      const payment = {
        transaction_id,
        project_id: input.order.project_id,
        is_test,
        payment_method_details,
        capture_mode,
        // A repeat vaults the account again; use the token stored first.
        receiver_account_token: transaction.receiver_account_token
          ? (await findPayment(db, transaction_id)).receiver_account_token
          : null,
      };
      return await charge({ order, payment, paid_with: paidWith(transaction) }, now);
    },

    /** Charges one payment attempt of an existing order; the first attempt may have been written with the order. */
    async chargeAttempt(input: SubmitPaymentInput & AtTime & { order: OrderRecord }): Promise<OrderRecord> {
      const { transaction, project_id, is_test, now, request_id, not_after } = input;
      const announced = input.order.transactions.find((one) => one.attempt === transaction.attempt);
      const id = announced?.id ?? transaction.id;
      const expires_at = transactionExpiresAt({
        order_expires_at: input.order.expires_at,
        created: now,
        period: transaction.period,
      });
      const times = { created: now, expires_at, request_id, not_after };
      const order = await beginAttempt(db, input.order, { ...withoutPeriod(transaction), id }, times);
      if (transactionOf(order, id)?.status !== 'new') return order;
      const { payment_method_details, capture_mode = null, receiver_account_token = null } = transaction;
      const payment = {
        transaction_id: id,
        project_id,
        is_test,
        payment_method_details,
        capture_mode,
        receiver_account_token,
      };
      return await charge({ order, payment, paid_with: paidWith(transaction) }, now);
    },

    /**
     * Asks for the outcome of a charge and records what follows (planOutcome); without an outcome, that the processor
     * is asked again at `poll_at` (epoch milliseconds).
     */
    async pollCharge(
      input: { order: OrderRecord; transaction_id: string; poll_at: number } & AtTime,
    ): Promise<OrderRecord> {
      const { transaction_id, now, poll_at } = input;
      const outcome = await findCharge(input.order, transaction_id);
      const is_unknown = outcome === 'unknown';
      const isOpen = isOutcomeMissing(outcome) && (await recordPoll(db, { transaction_id, now, poll_at, is_unknown }));
      if (is_unknown && isOpen) return withPoll(input.order, transaction_id, poll_at);
      // Another worker may have moved the order and died before reporting it.
      const order = await loadOrder(db, input.order.id);
      const plan = planOutcome(order, { transaction_id, outcome, now, machine_now: Date.now() });
      if (plan.action !== 'send') return await recordOutcome(order, { transaction_id, outcome, now });
      const charge = operationOf({ order, payment: await findPayment(db, transaction_id) });
      const sent = await processor.execute(charge, chargeIdempotencyKey(transaction_id));
      const answer = sent === 'key_used_for_other_request' ? 'unknown' : sent;
      if (!isOutcomeMissing(answer)) return await recordOutcome(order, { transaction_id, outcome: answer, now });
      await recordPoll(db, { transaction_id, now, poll_at, is_unknown: answer === 'unknown' });
      return await recordOutcome(withPoll(order, transaction_id, poll_at), { transaction_id, outcome: answer, now });
    },

    /**
     * Ends an unpaid order and its open transaction together: cancelled or expired. It asks the processor first, and
     * what was paid counts: a worker may have died right after charging, or the customer may have passed 3-D Secure
     * without our being told. Without an answer the order is returned unchanged. Throws PreconditionFailed when the
     * order is at none of `versions`.
     */
    async endUnpaidOrder(
      input: {
        order: OrderRecord;
        ended: Ending;
        source: EventSource;
        versions?: number[] | undefined;
        /** When the processor is asked again if it gives no answer, epoch milliseconds; absent: that stays as it is. */
        poll_at?: number | undefined;
      } & AtTime,
    ): Promise<OrderRecord> {
      const { ended, source, versions, now, poll_at } = input;
      let order = await loadOrder(db, input.order.id);
      if (isFinal(ORDER_MOVES, order.status)) return order;
      if (versions?.includes(order.version) === false) throw preconditionFailed();
      const last = lastTransaction(order);
      if (last?.status === 'new' || last?.status === 'pending') {
        const outcome = await findCharge(order, last.id);
        if (outcome === 'unknown') {
          await recordPoll(db, { transaction_id: last.id, now, poll_at, is_unknown: true });
          return poll_at === undefined ? order : withPoll(order, last.id, poll_at);
        }
        if (outcome !== 'not_found') order = await recordOutcome(order, { transaction_id: last.id, outcome, now });
      }
      if (isFinal(ORDER_MOVES, order.status) || awaitsOutcome(order)) return order;
      return await moveOrder(db, order, { ended }, { source, now, versions: versions && [order.version] });
    },

    /**
     * Sets the amount of a capture or void aside and starts its workflow. Returns the payment order. Throws the
     * domain's refusals.
     */
    async startCaptureOrVoid(input: CaptureOrVoidInput & AtTime): Promise<OrderRecord> {
      const written = await insertFollowUp(db, { ...input, transaction_id: transactionId(input.id, 1) });
      if (!isFinal(ORDER_MOVES, written.status)) await startFollowUps([written.id]);
      return await loadOrder(db, input.original_order_id);
    },

    /** Captures or releases what an authorization still holds at the end of its window. Returns the payment order. */
    async closeCaptureWindow({ order_id, now }: { order_id: string } & AtTime): Promise<OrderRecord> {
      const authorization = openAuthorization(await loadOrder(db, order_id));
      if (authorization !== undefined) {
        const { transaction_id, closings } = authorization;
        // A worker may have been killed between writing the last one and starting it.
        const last = closings.find(({ id }) => id === closingOrderId(transaction_id, closings.length));
        const ids = last === undefined || isFinal(ORDER_MOVES, last.status) ? [] : [last.id];
        const closing = closingOf(authorization, now);
        if (closing !== undefined) {
          const id = closingOrderId(transaction_id, closings.length + 1);
          await insertFollowUp(db, {
            ...closing,
            id,
            transaction_id: transactionId(id, 1),
            original_order_id: order_id,
            original_transaction_id: transaction_id,
            requested_by: 'service',
            now,
          });
          ids.push(id);
        }
        await startFollowUps(ids);
      }
      return await loadOrder(db, order_id);
    },

    /**
     * Starts the reversal of a payment that may have been approved after it had ended; it asks now, or after
     * `poll_after_ms`.
     */
    startReversal: (input: { transaction_id: string; poll_after_ms?: number } & AtTime): Promise<void> =>
      workflows.follow_ups.startReversal(input),
  });
}

/** The transaction without its period: the row holds expires_at instead. */
function withoutPeriod(transaction: TransactionInput): NewTransaction {
  const { period: _, ...row } = transaction;
  return row;
}

function paidWith({ payment_method, payment_method_brand, payment_method_details = {} }: TransactionInput) {
  return { payment_method, payment_method_brand, payment_method_details };
}
