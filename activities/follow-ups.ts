import { insertFollowUp, openFollowUps, recordFollowUpOutcome } from '../src/db/follow-ups';
import { findOrder, loadOrder } from '../src/db/order-record';
import { endedUnpaid, findPayment } from '../src/db/transactions';
import { OF_THE_PROCESSOR, followUpKey, movesReservedMoney, type FollowUpKind } from '../src/domain/follow-up';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import type { OrderRecord } from '../src/domain/order-record';
import { chargeKey, outcomeOf } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { closingOrderId, transactionId } from '../src/ids';
import type { OperationOutcome } from '../src/processor/client';
import type { Operation, OperationResult } from '../src/processor/wire';
import type { CaptureOrVoidInput, FollowUpInput } from '../workflows/messages';
import { withFailures } from './failure';
import { moveOf } from './outcome';
import type { AtTime, Services } from './services';

/** What became of a follow-up order: `recorded`, `nothing` to record (no approval, no chargeback), or `unanswered` by the processor. */
export type FollowUpExecution =
  { done: 'recorded'; order: OrderRecord } | { done: 'unanswered' | 'nothing'; order?: never };

type Unanswered = 'unknown' | (OperationResult & { result: 'processing' });

/** No answer, or the processor does not know the outcome yet. */
function isUnanswered(answer: OperationOutcome | 'not_found'): answer is Unanswered {
  return typeof answer === 'string' ? answer === 'unknown' : answer.result === 'processing';
}

/** Activities of follow-up orders: each is written beside its payment order, then carried out at the processor under a derived key. */
export function followUpActivities({ db, processor, workflows }: Pick<Services, 'db' | 'processor' | 'workflows'>) {
  /** Writes the order unless it exists. Throws the domain's refusals. */
  async function record(input: FollowUpInput & AtTime): Promise<OrderRecord> {
    return await insertFollowUp(db, { ...input, transaction_id: transactionId(input.id, 1) });
  }

  /** The request to the processor. Every repeat must be identical: it refuses a key sent with another body. */
  async function operationOf(
    { kind, id, original_transaction_id }: FollowUpInput & { kind: Exclude<FollowUpKind, 'chargeback'> },
    { amount, currency }: OrderRecord,
  ): Promise<Operation> {
    const {
      order_id: payment_order_id,
      transaction_id,
      project_id,
      is_test,
    } = await findPayment(db, original_transaction_id);
    return {
      operation: kind,
      order_id: payment_order_id,
      transaction_id,
      project_id,
      is_test,
      follow_up_order_id: id,
      amount,
      currency,
    };
  }

  /** Requests the operation. `again`: it was sent before, so ask for its outcome first. */
  async function operate(input: FollowUpInput, order: OrderRecord, again: boolean): Promise<OperationOutcome> {
    const { kind, original_transaction_id, id } = input;
    if (kind === 'chargeback') throw new Error('chargebacks start at the processor: none is ever requested');
    const key = followUpKey(original_transaction_id, kind, id);
    const known = again ? await processor.findOperation(key) : 'not_found';
    if (known !== 'not_found') return known;
    const answer = await processor.execute(await operationOf({ ...input, kind }, order), key);
    return answer === 'key_used_for_other_request' ? 'unknown' : answer;
  }

  /** Writes the outcome and, once it is final, tells the payment's workflow. */
  async function recordOutcome(
    input: FollowUpInput,
    order: OrderRecord,
    answer: OperationOutcome,
    now: number,
  ): Promise<OrderRecord> {
    const { to, details } = moveOf(answer, now);
    const after = await recordFollowUpOutcome(db, order, { ...input, amount: order.amount }, to, details);
    if (isFinal(ORDER_MOVES, after.status)) await notifyPayment(input);
    return after;
  }

  /** The payment's workflow learns that a capture or void has settled. */
  async function notifyPayment({ kind, original_order_id }: FollowUpInput): Promise<void> {
    if (movesReservedMoney(kind)) await workflows.orders.recordChanged(original_order_id);
  }

  /** Starts a workflow for every open capture and void of the payment that has none. Returns the payment order. */
  async function startOpen(original_order_id: string): Promise<OrderRecord> {
    for (const open of await openFollowUps(db, original_order_id)) await workflows.follow_ups.start(open);
    return await loadOrder(db, original_order_id);
  }

  /** The processor's answer about a charge that ended unpaid; `not_found` for any other charge. */
  async function lateAnswer(transaction_id: string): Promise<OperationOutcome | 'not_found'> {
    return (await endedUnpaid(db, transaction_id)) === undefined
      ? 'not_found'
      : await processor.findOperation(chargeKey(transaction_id));
  }

  /** Records a chargeback or a won chargeback. The notification is not trusted: the processor is asked by the key it named. */
  async function recordWhatWasDone(input: FollowUpInput & AtTime): Promise<FollowUpExecution> {
    const answer = await processor.findOperation(input.processor_key ?? '');
    if (isUnanswered(answer)) return { done: 'unanswered' };
    // A known key is not enough: the processor knows the charge's key too.
    const recorded_as: Partial<Record<OperationResult['operation'], FollowUpKind>> = OF_THE_PROCESSOR;
    const is_told =
      answer !== 'not_found' &&
      recorded_as[answer.operation] === input.kind &&
      answer.transaction_id === input.original_transaction_id;
    if (!is_told || outcomeOf(answer).to !== 'accepted') return { done: 'nothing' };
    const order = await record({ ...input, amount: answer.amount });
    return { done: 'recorded', order: await recordOutcome(input, order, answer, input.now) };
  }

  async function carryOut(input: FollowUpInput & AtTime): Promise<OrderRecord> {
    // A capture or void was written before this workflow was started.
    const order = (movesReservedMoney(input.kind) ? await findOrder(db, input.id) : undefined) ?? (await record(input));
    // Signal again: whoever recorded its outcome may have died before signalling.
    if (isFinal(ORDER_MOVES, order.status)) await notifyPayment(input);
    if (order.status !== 'new') return order;
    return await recordOutcome(input, order, await operate(input, order, false), input.now);
  }

  return withFailures({
    /**
     * Writes a follow-up order and carries it out at the processor, in one activity, as every step is safe to repeat. Throws the
     * domain's refusals.
     */
    async executeFollowUp(input: FollowUpInput & AtTime): Promise<FollowUpExecution> {
      if (input.requested_by === 'processor') return await recordWhatWasDone(input);
      if (input.kind === 'reversal') {
        const answer = await lateAnswer(input.original_transaction_id);
        if (isUnanswered(answer)) return { done: 'unanswered' };
        if (answer === 'not_found' || outcomeOf(answer).to !== 'accepted') return { done: 'nothing' };
      }
      return { done: 'recorded', order: await carryOut(input) };
    },

    /** Asks for an open outcome; an operation the processor never saw is sent again. Without an answer the order is returned unchanged. */
    async pollFollowUp({
      order,
      now,
      ...input
    }: FollowUpInput & AtTime & { order: OrderRecord }): Promise<OrderRecord> {
      const answer = await operate(input, order, true);
      return answer === 'unknown' ? order : await recordOutcome(input, order, answer, now);
    },

    /** Sets the amount of a capture or void aside and starts its workflow. Returns the payment order. Throws the domain's refusals. */
    async startCaptureOrVoid(input: CaptureOrVoidInput & AtTime): Promise<OrderRecord> {
      await record(input);
      return await startOpen(input.original_order_id);
    },

    /** Captures or releases what an authorization still holds at the end of its window. Returns the payment order. */
    async closeCaptureWindow({ order_id, now }: { order_id: string } & AtTime): Promise<OrderRecord> {
      const authorization = openAuthorization(await loadOrder(db, order_id));
      const closing = authorization && closingOf(authorization, now);
      if (authorization !== undefined && closing !== undefined) {
        const id = closingOrderId(authorization.transaction_id, authorization.closings.length + 1);
        const payment = { original_order_id: order_id, original_transaction_id: authorization.transaction_id };
        await insertFollowUp(db, {
          ...payment,
          ...closing,
          id,
          transaction_id: transactionId(id, 1),
          requested_by: 'service',
          now,
        });
      }
      return await startOpen(order_id);
    },

    /** Gives a payment back that may have been approved after it had ended; its reversal asks now, or after `poll_after_ms`. */
    startReversal: (input: { transaction_id: string; poll_after_ms?: number }): Promise<void> =>
      workflows.follow_ups.startReversal(input),
  });
}
