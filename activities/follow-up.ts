import type { Database } from '../src/db/connection';
import { insertFollowUp, recordFollowUpOutcome } from '../src/db/follow-ups';
import { endDueWatch, endWatch } from '../src/db/late-approvals';
import { findOrder } from '../src/db/order-record';
import { endedUnpaid, findPayment, recordPoll } from '../src/db/transactions';
import {
  PROCESSOR_INITIATED,
  followUpIdempotencyKey,
  movesReservedMoney,
  type FollowUpKind,
} from '../src/domain/follow-up';
import { lastTransaction, withPollAt, type OrderRecord } from '../src/domain/order-record';
import { isOutcomeMissing, outcomeOf } from '../src/domain/outcome';
import { chargeIdempotencyKey } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { transactionId } from '../src/ids';
import type { OperationOutcome } from '../src/processor/client';
import type { OperationResult } from '../src/processor/wire';
import type { FollowUpInput } from '../workflows/messages';
import { withFailures } from './failure';
import type { AtTime, Services } from './services';

/**
 * `nothing`: there is nothing to record, as the processor did not approve a late payment, or did no such chargeback.
 */
export type FollowUpExecution =
  { result: 'recorded'; order: OrderRecord } | { result: 'unanswered' | 'nothing'; order?: never };

const UNANSWERED: FollowUpExecution = { result: 'unanswered' };
const NOTHING: FollowUpExecution = { result: 'nothing' };

/**
 * Activities of a follow-up order's workflow. The operation is executed under a key derived from its order, so each is
 * safe to repeat.
 */
export function followUpActivities({ db, processor, workflows }: Pick<Services, 'db' | 'processor' | 'workflows'>) {
  /** Writes the order unless it exists. Throws the domain's refusals. */
  async function insert(trx: Database, input: FollowUpInput & AtTime): Promise<OrderRecord> {
    return await insertFollowUp(trx, { ...input, transaction_id: transactionId(input.id, 1) });
  }

  async function writeOutcome(
    trx: Database,
    input: FollowUpInput,
    order: OrderRecord,
    outcome: OperationOutcome,
    now: number,
  ): Promise<OrderRecord> {
    const { to, details } = outcomeOf(outcome, { now, clock_offset_ms: order.clock_offset_ms });
    return await recordFollowUpOutcome(trx, order, { ...input, amount: order.amount }, to, details);
  }

  /** Sends the operation. Every repeat must be identical: the processor refuses a key sent with another body. */
  async function send(
    { kind, id, original_transaction_id }: FollowUpInput,
    { amount, currency }: OrderRecord,
  ): Promise<OperationOutcome> {
    if (kind === 'chargeback') throw new Error('chargebacks start at the processor: none is ever requested');
    const { order_id, transaction_id, project_id, is_test } = await findPayment(db, original_transaction_id);
    const payment = { order_id, transaction_id, project_id, is_test };
    const key = followUpIdempotencyKey(original_transaction_id, kind, id);
    const outcome = await processor.execute(
      { ...payment, operation: kind, follow_up_order_id: id, amount, currency },
      key,
    );
    return outcome === 'key_used_for_other_request' ? 'unknown' : outcome;
  }

  /** Records the outcome and, once it is final, notifies the payment's workflow. */
  async function recordOutcome(input: FollowUpInput, order: OrderRecord, outcome: OperationOutcome, now: number) {
    const after = await writeOutcome(db, input, order, outcome, now);
    if (isFinal(ORDER_MOVES, after.status)) await notifyPayment(workflows, input);
    return after;
  }

  /**
   * Records a chargeback or a won chargeback. The notification is not trusted: the processor is asked by the key it
   * named.
   */
  async function recordProcessorInitiated(input: FollowUpInput & AtTime): Promise<FollowUpExecution> {
    const found = await processor.findOperation(input.processor_key ?? '');
    if (isUnanswered(found)) return UNANSWERED;
    // A known key is not enough: the processor knows the charge's key too.
    const recorded_as: Partial<Record<OperationResult['operation'], FollowUpKind>> = PROCESSOR_INITIATED;
    const isMeant =
      found !== 'not_found' &&
      recorded_as[found.operation] === input.kind &&
      found.transaction_id === input.original_transaction_id;
    if (!isMeant || found.result !== 'approved') return NOTHING;
    // Recovery finds no such order without an outcome, so both are written or none.
    const order = await db.transaction(async (trx) => {
      const written = await insert(trx, { ...input, amount: found.amount });
      return await writeOutcome(trx, input, written, found, input.now);
    });
    return { result: 'recorded', order };
  }

  /**
   * A reversal of the service is written only for a charge that ended unpaid and that the processor approved all the
   * same. Once it is written, the charge is not asked about again.
   */
  async function reverseLateApproval(input: FollowUpInput & AtTime): Promise<FollowUpExecution> {
    const transaction_id = input.original_transaction_id;
    if ((await findOrder(db, input.id)) !== undefined) return await executeReversal(input);
    if ((await endedUnpaid(db, transaction_id)) === undefined) return NOTHING;
    const found = await processor.findOperation(chargeIdempotencyKey(transaction_id));
    if (isUnanswered(found)) return UNANSWERED;
    if (found === 'not_found' || found.result !== 'approved') {
      await endDueWatch(db, transaction_id, input.now);
      return NOTHING;
    }
    return await executeReversal(input);
  }

  async function executeReversal(input: FollowUpInput & AtTime): Promise<FollowUpExecution> {
    const execution = await execute(input);
    await endWatch(db, input.original_transaction_id);
    return execution;
  }

  async function execute(input: FollowUpInput & AtTime): Promise<FollowUpExecution> {
    // A capture or void was written before this workflow was started.
    const written = movesReservedMoney(input.kind) ? await findOrder(db, input.id) : undefined;
    const order = written ?? (await insert(db, input));
    // Again: whoever recorded its outcome may have died before notifying.
    if (isFinal(ORDER_MOVES, order.status)) await notifyPayment(workflows, input);
    if (order.status !== 'new') return { result: 'recorded', order };
    return { result: 'recorded', order: await recordOutcome(input, order, await send(input, order), input.now) };
  }

  return withFailures({
    /**
     * Writes a follow-up order and executes it at the processor, in one activity, as every step is safe to repeat.
     * Throws the domain's refusals.
     */
    async executeFollowUp(input: FollowUpInput & AtTime): Promise<FollowUpExecution> {
      if (input.requested_by === 'processor') return await recordProcessorInitiated(input);
      return input.kind === 'reversal' ? await reverseLateApproval(input) : await execute(input);
    },

    /**
     * Asks for an open outcome; an operation that the processor does not know is sent again. Without an outcome it is
     * recorded that the processor is asked again at `poll_at` (epoch milliseconds).
     */
    async pollFollowUp({
      order,
      now,
      poll_at,
      ...input
    }: FollowUpInput & AtTime & { order: OrderRecord; poll_at: number }): Promise<OrderRecord> {
      const found = await processor.findOperation(
        followUpIdempotencyKey(input.original_transaction_id, input.kind, input.id),
      );
      const outcome = found === 'not_found' ? await send(input, order) : found;
      if (!isOutcomeMissing(outcome)) return await recordOutcome(input, order, outcome, now);
      const { id: transaction_id } = lastTransaction(order)!;
      const after = outcome === 'unknown' ? order : await recordOutcome(input, order, outcome, now);
      await recordPoll(db, { transaction_id, now, poll_at });
      return withPollAt(after, transaction_id, poll_at);
    },
  });
}

/** The payment's workflow learns that a capture or void has its outcome. */
export async function notifyPayment(
  { orders }: { orders: Pick<Services['workflows']['orders'], 'recordChanged'> },
  { kind, original_order_id }: FollowUpInput,
): Promise<void> {
  if (movesReservedMoney(kind)) await orders.recordChanged(original_order_id);
}

type Unanswered = 'unknown' | (OperationResult & { result: 'processing' });

/** No answer, or the processor does not know the outcome yet. */
function isUnanswered(found: OperationOutcome | 'not_found'): found is Unanswered {
  return typeof found === 'string' ? found === 'unknown' : found.result === 'processing';
}
