import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { insertFollowUp, openFollowUps, settleFollowUp, type FollowUp } from '../src/db/follow-ups';
import { findOrder, loadOrder } from '../src/db/order-record';
import { endedUnpaid, findPayment } from '../src/db/transactions';
import { OF_THE_PROCESSOR, followUpKey, movesReservedMoney, type FollowUpKind } from '../src/domain/follow-up';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import type { OrderRecord } from '../src/domain/move';
import { chargeKey, outcomeOf } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { closingOrderId, reversalOrderId, transactionId } from '../src/ids';
import type { Operation, OperationResult } from '../src/processor/wire';
import { FOLLOW_UP_WORKFLOW, followUpNews, followUpStart, orderWorkflowId, recordChanged, type FollowUpInput, type CaptureOrVoidInput, type FollowUpWorkflow } from '../workflows/messages';
import { withFailures } from './failure';
import type { Services } from './services';

interface AtTime {
  now: number;
}

/** What became of a follow-up order: written, nothing to write (there was no approval, no chargeback), or the processor does not say. */
export type Recorded = { done: 'recorded'; order: OrderRecord } | { done: 'unanswered' | 'nothing'; order?: never };

/** The processor says nothing, or does not know yet itself. */
function isUnknown(answer: OperationResult | 'unknown' | 'never_seen'): answer is 'unknown' | (OperationResult & { result: 'processing' }) {
  return answer === 'unknown' || (answer !== 'never_seen' && answer.result === 'processing');
}

/** Orders that follow a payment order: written beside it, then carried out at the processor under a derived key. */
export function followUpActivities({ db, processor, client }: Pick<Services, 'db' | 'processor' | 'client'>) {
  /** Writes the order unless it is there. Throws what the domain refuses with. */
  async function record(input: FollowUpInput & AtTime): Promise<OrderRecord> {
    const { order_id, project_id: _, processor_key: __, ask_after_ms: ___, asked: ____, ...follow_up } = input;
    return await insertFollowUp(db, { ...follow_up, id: order_id, transaction_id: transactionId(order_id, 1) });
  }

  /** What the processor is asked for: the same at every repeat, as it refuses a key that comes with another body. */
  async function operationOf({ kind, order_id, original_transaction_id }: FollowUpInput & { kind: Exclude<FollowUpKind, 'chargeback'> }, { amount, currency }: OrderRecord): Promise<Operation> {
    const { order_id: payment_order_id, transaction_id, project_id, is_test } = await findPayment(db, original_transaction_id);
    return { operation: kind, order_id: payment_order_id, transaction_id, project_id, is_test, follow_up_order_id: order_id, amount, currency };
  }

  /** Asks for the operation; `again`: it went out before, so the processor is asked first what became of it. */
  async function operate(input: FollowUpInput, order: OrderRecord, again: boolean): Promise<OperationResult | 'unknown'> {
    const { kind, original_transaction_id, order_id } = input;
    if (kind === 'chargeback') throw new Error('chargebacks start at the processor: none is ever requested');
    const key = followUpKey(original_transaction_id, kind, order_id);
    const known = again ? await processor.ask(key) : 'never_seen';
    return known === 'never_seen' ? await processor.operate(await operationOf({ ...input, kind }, order), key) : known;
  }

  /** Writes what became of it, and tells the order that holds the money. */
  async function settle(input: FollowUpInput, order: OrderRecord, answer: OperationResult | 'unknown', now: number): Promise<OrderRecord> {
    const { to, result } = outcomeOf(answer);
    const known = answer === 'unknown' ? {} : { response_code: answer.response_code, response_code_description: answer.response_code_description };
    const follow_up: FollowUp = { ...input, amount: order.amount };
    const after = await settleFollowUp(db, order, follow_up, to, { source: answer === 'unknown' ? 'service' : 'processor', now, occurred: answer === 'unknown' ? undefined : answer.occurred, result, transaction: known });
    if (isFinal(ORDER_MOVES, after.status)) await tellPayment(client, input);
    return after;
  }

  /** Every capture and void of a payment that is not final has a workflow, or gets one now. */
  async function startOpen(original_order_id: string): Promise<OrderRecord> {
    for (const open of await openFollowUps(db, original_order_id)) await startFollowUp(client, open);
    return await loadOrder(db, original_order_id);
  }

  /** What the processor says of a charge whose order ended unpaid. */
  async function lateAnswer(transaction_id: string): Promise<OperationResult | 'unknown' | 'never_seen'> {
    return (await endedUnpaid(db, transaction_id)) === undefined ? 'never_seen' : await processor.ask(chargeKey(transaction_id));
  }

  /** Chargebacks, and those that were won: the notification is news, the processor is asked by the key it named. */
  async function recordWhatWasDone(input: FollowUpInput & AtTime): Promise<Recorded> {
    const answer = await processor.ask(input.processor_key ?? '');
    if (isUnknown(answer)) return { done: 'unanswered' };
    // The key alone proves nothing: that of the charge is known as well.
    const recorded_as: Partial<Record<OperationResult['operation'], FollowUpKind>> = OF_THE_PROCESSOR;
    const is_told = answer !== 'never_seen' && recorded_as[answer.operation] === input.kind && answer.transaction_id === input.original_transaction_id;
    if (!is_told || outcomeOf(answer).to !== 'accepted') return { done: 'nothing' };
    const order = await record({ ...input, amount: answer.amount });
    return { done: 'recorded', order: await settle(input, order, answer, input.now) };
  }

  async function carryOut(input: FollowUpInput & AtTime): Promise<OrderRecord> {
    // The order that holds the money has written it before it started this.
    const order = (movesReservedMoney(input.kind) ? await findOrder(db, input.order_id) : undefined) ?? (await record(input));
    // Whoever settled it may have been killed before it told.
    if (isFinal(ORDER_MOVES, order.status)) await tellPayment(client, input);
    if (order.status !== 'new') return order;
    return await settle(input, order, await operate(input, order, false), input.now);
  }

  return withFailures({
    /**
     * Writes a follow-up order and carries it out at the processor: one activity, as every step of it is safe to repeat. Throws what
     * the domain refuses with.
     */
    async recordAndCarryOut(input: FollowUpInput & AtTime): Promise<Recorded> {
      if (input.requested_by === 'processor') return await recordWhatWasDone(input);
      if (input.kind === 'reversal') {
        const answer = await lateAnswer(input.original_transaction_id);
        if (isUnknown(answer)) return { done: 'unanswered' };
        if (answer === 'never_seen' || outcomeOf(answer).to !== 'accepted') return { done: 'nothing' };
      }
      return { done: 'recorded', order: await carryOut(input) };
    },

    /** Asks for an outcome that is open; a key the processor never saw goes out again. The order stays as it is while nobody answers. */
    async askFollowUp({ order, now, ...input }: FollowUpInput & AtTime & { order: OrderRecord }): Promise<OrderRecord> {
      const answer = await operate(input, order, true);
      return answer === 'unknown' ? order : await settle(input, order, answer, now);
    },

    /** Sets aside what a capture or void is to move, and starts its workflow. Answers the payment order. Throws what the domain refuses with. */
    async captureOrVoid(input: CaptureOrVoidInput & AtTime): Promise<OrderRecord> {
      await record(input);
      return await startOpen(input.original_order_id);
    },

    /** Captures or releases what an authorization still holds at the end of its window. Answers the payment order. */
    async closeWindow({ order_id, now }: { order_id: string } & AtTime): Promise<OrderRecord> {
      const authorization = openAuthorization(await loadOrder(db, order_id));
      const closing = authorization && closingOf(authorization, now);
      if (authorization !== undefined && closing !== undefined) {
        const id = closingOrderId(authorization.transaction_id, authorization.closings.length + 1);
        const payment = { original_order_id: order_id, original_transaction_id: authorization.transaction_id };
        await insertFollowUp(db, { ...payment, ...closing, id, transaction_id: transactionId(id, 1), requested_by: 'service', now });
      }
      return await startOpen(order_id);
    },

    /** Gives back a payment that may have been approved after its end: its workflow asks the processor whether it was, now or after a while. */
    async startReversal({ transaction_id, ask_after_ms }: { transaction_id: string; ask_after_ms?: number }): Promise<void> {
      const payment = await endedUnpaid(db, transaction_id);
      if (payment === undefined) return;
      const input = { ...payment, order_id: reversalOrderId(transaction_id), kind: 'reversal', requested_by: 'service', ask_after_ms } as const;
      if (ask_after_ms !== undefined) return await startFollowUp(client, input);
      // One that waits to ask of itself, started before the news came, asks now.
      await client.workflow.signalWithStart<FollowUpWorkflow>(FOLLOW_UP_WORKFLOW, followUpNews(input));
    },
  });
}

/** Starts its workflow unless it has one; a reversal that found nothing leaves room for one that comes later. */
export async function startFollowUp(client: Client, input: FollowUpInput): Promise<void> {
  try {
    await client.workflow.start<FollowUpWorkflow>(FOLLOW_UP_WORKFLOW, { ...followUpStart(input), workflowIdReusePolicy: 'ALLOW_DUPLICATE' });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** An order that holds money waits for what becomes of it; one that is over does not. */
async function tellPayment(client: Client, { kind, original_order_id }: FollowUpInput): Promise<void> {
  if (!movesReservedMoney(kind)) return;
  try {
    await client.workflow.getHandle(orderWorkflowId(original_order_id)).signal(recordChanged);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
