import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { insertFollowUp, openFollowUps, recordFollowUpOutcome } from '../src/db/follow-ups';
import { findOrder, loadOrder } from '../src/db/order-record';
import { endedUnpaid, findPayment } from '../src/db/transactions';
import { OF_THE_PROCESSOR, followUpKey, movesReservedMoney, type FollowUpKind } from '../src/domain/follow-up';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import type { OrderRecord } from '../src/domain/order-record';
import { chargeKey, outcomeOf } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { closingOrderId, reversalOrderId, transactionId } from '../src/ids';
import type { Reply } from '../src/processor/client';
import type { Operation, OperationResult } from '../src/processor/wire';
import {
  FOLLOW_UP_WORKFLOW,
  followUpNews,
  followUpStart,
  lateReversal,
  orderWorkflowId,
  recordChanged,
  type FollowUpInput,
  type CaptureOrVoidInput,
  type FollowUpWorkflow,
} from '../workflows/messages';
import { withFailures } from './failure';
import { moveOf } from './outcome';
import type { AtTime, Services } from './services';

/** What became of a follow-up order: `recorded`, `nothing` to record (no approval, no chargeback), or `unanswered` by the processor. */
export type Recorded = { done: 'recorded'; order: OrderRecord } | { done: 'unanswered' | 'nothing'; order?: never };

type Unanswered = 'unknown' | (OperationResult & { result: 'processing' });

/** No answer, or the processor does not know the outcome yet. */
function isUnanswered(answer: Reply | 'never_seen'): answer is Unanswered {
  return typeof answer === 'string' ? answer === 'unknown' : answer.result === 'processing';
}

/** Activities of follow-up orders: each is written beside its payment order, then carried out at the processor under a derived key. */
export function followUpActivities({ db, processor, client }: Pick<Services, 'db' | 'processor' | 'client'>) {
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
  async function operate(input: FollowUpInput, order: OrderRecord, again: boolean): Promise<Reply> {
    const { kind, original_transaction_id, id } = input;
    if (kind === 'chargeback') throw new Error('chargebacks start at the processor: none is ever requested');
    const key = followUpKey(original_transaction_id, kind, id);
    const known = again ? await processor.ask(key) : 'never_seen';
    if (known !== 'never_seen') return known;
    const answer = await processor.operate(await operationOf({ ...input, kind }, order), key);
    return answer === 'other_request' ? 'unknown' : answer;
  }

  /** Writes the outcome and, once it is final, tells the payment's workflow. */
  async function recordOutcome(
    input: FollowUpInput,
    order: OrderRecord,
    answer: Reply,
    now: number,
  ): Promise<OrderRecord> {
    const { to, details } = moveOf(answer, now);
    const after = await recordFollowUpOutcome(db, order, { ...input, amount: order.amount }, to, details);
    if (isFinal(ORDER_MOVES, after.status)) await tellPayment(client, input);
    return after;
  }

  /** Starts a workflow for every open capture and void of the payment that has none. Returns the payment order. */
  async function startOpen(original_order_id: string): Promise<OrderRecord> {
    for (const open of await openFollowUps(db, original_order_id)) await startFollowUp(client, open);
    return await loadOrder(db, original_order_id);
  }

  /** The processor's answer about a charge that ended unpaid; `never_seen` for any other charge. */
  async function lateAnswer(transaction_id: string): Promise<Reply | 'never_seen'> {
    return (await endedUnpaid(db, transaction_id)) === undefined
      ? 'never_seen'
      : await processor.ask(chargeKey(transaction_id));
  }

  /** Records a chargeback or a won chargeback. The notification is not trusted: the processor is asked by the key it named. */
  async function recordWhatWasDone(input: FollowUpInput & AtTime): Promise<Recorded> {
    const answer = await processor.ask(input.processor_key ?? '');
    if (isUnanswered(answer)) return { done: 'unanswered' };
    // A known key is not enough: the processor knows the charge's key too.
    const recorded_as: Partial<Record<OperationResult['operation'], FollowUpKind>> = OF_THE_PROCESSOR;
    const is_told =
      answer !== 'never_seen' &&
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
    if (isFinal(ORDER_MOVES, order.status)) await tellPayment(client, input);
    if (order.status !== 'new') return order;
    return await recordOutcome(input, order, await operate(input, order, false), input.now);
  }

  return withFailures({
    /**
     * Writes a follow-up order and carries it out at the processor, in one activity, as every step is safe to repeat. Throws the
     * domain's refusals.
     */
    async recordAndCarryOut(input: FollowUpInput & AtTime): Promise<Recorded> {
      if (input.requested_by === 'processor') return await recordWhatWasDone(input);
      if (input.kind === 'reversal') {
        const answer = await lateAnswer(input.original_transaction_id);
        if (isUnanswered(answer)) return { done: 'unanswered' };
        if (answer === 'never_seen' || outcomeOf(answer).to !== 'accepted') return { done: 'nothing' };
      }
      return { done: 'recorded', order: await carryOut(input) };
    },

    /** Asks for an open outcome; an operation the processor never saw is sent again. Without an answer the order is returned unchanged. */
    async askFollowUp({ order, now, ...input }: FollowUpInput & AtTime & { order: OrderRecord }): Promise<OrderRecord> {
      const answer = await operate(input, order, true);
      return answer === 'unknown' ? order : await recordOutcome(input, order, answer, now);
    },

    /** Sets the amount of a capture or void aside and starts its workflow. Returns the payment order. Throws the domain's refusals. */
    async captureOrVoid(input: CaptureOrVoidInput & AtTime): Promise<OrderRecord> {
      await record(input);
      return await startOpen(input.original_order_id);
    },

    /** Captures or releases what an authorization still holds at the end of its window. Returns the payment order. */
    async closeWindow({ order_id, now }: { order_id: string } & AtTime): Promise<OrderRecord> {
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

    /**
     * Gives back a payment that may have been approved after its end. The reversal's workflow asks the processor whether it was:
     * now, or after `ask_after_ms`.
     */
    async startReversal({
      transaction_id,
      ask_after_ms,
    }: {
      transaction_id: string;
      ask_after_ms?: number;
    }): Promise<void> {
      const payment = await endedUnpaid(db, transaction_id);
      if (payment === undefined) return;
      const input = lateReversal(payment, reversalOrderId(transaction_id), ask_after_ms);
      if (ask_after_ms !== undefined) return await startFollowUp(client, input);
      // Its workflow may be waiting to ask later; this makes it ask now.
      await client.workflow.signalWithStart<FollowUpWorkflow>(FOLLOW_UP_WORKFLOW, followUpNews(input));
    },
  });
}

/** Starts the workflow unless it is running. A reversal that found nothing must not block a later one. */
export async function startFollowUp(client: Client, input: FollowUpInput): Promise<void> {
  try {
    await client.workflow.start<FollowUpWorkflow>(FOLLOW_UP_WORKFLOW, {
      ...followUpStart(input),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Tells the payment's workflow that a capture or void has settled; one that has ended need not know. */
async function tellPayment(client: Client, { kind, original_order_id }: FollowUpInput): Promise<void> {
  if (!movesReservedMoney(kind)) return;
  try {
    await client.workflow.getHandle(orderWorkflowId(original_order_id)).signal(recordChanged);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
