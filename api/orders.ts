import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  isGrpcServiceError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/connection';
import { findOrderView, type OrderView } from '../src/db/order-view';
import { endedUnpaid } from '../src/db/transactions';
import { formatAmount } from '../src/domain/currency';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError, isErrorName, type ErrorProperty } from '../src/errors';
import {
  CREATE_UPDATE_ID,
  ORDER_STATUS,
  ORDER_WORKFLOW,
  PROJECT_ID,
  REVERSAL_WORKFLOW,
  TASK_QUEUE,
  cancelOrder,
  createOrder,
  orderWorkflowId,
  paymentUpdateId,
  processorAnswered,
  reversalWorkflowId,
  submitPayment,
  type CancelOrderInput,
  type CreateOrderInput,
  type SubmitPaymentInput,
} from '../workflows/messages';

/** The part of a request's time that is kept for telling the merchant that nothing was done, in milliseconds. */
const MARGIN_MS = 2_000;

/** When the work of a request may no longer begin, so that "nothing was stored" stays true (DECISIONS, HTTP surface 10). */
export function notAfter(deadline_at: number): number {
  return deadline_at - MARGIN_MS;
}

/**
 * The API's door to the orders' workflows. Each call answers the order as the database has it afterwards.
 * Throws the ServiceError the workflow refused with; ServiceUnavailable when nobody answered in time and nothing is stored.
 */
export class Orders {
  constructor(
    private readonly client: Client,
    private readonly db: Database,
  ) {}

  /** A repeat joins the creation that is under way, or gets what became of it. */
  async create(input: CreateOrderInput, deadline_at: number): Promise<OrderView> {
    const { id } = input.order;
    // Only a request with an Idempotency-Key may still run when its sender was told that the service is away.
    const mayRunLate = input.not_after === undefined;
    try {
      return await this.answered(id, deadline_at, async () => {
        try {
          await this.startOrJoin(input, 'REJECT_DUPLICATE');
        } catch (error) {
          if (!isOver(error)) throw error;
          const order = await findOrderView(this.db, id);
          if (order !== undefined && (isFinal(ORDER_MOVES, order.status) || !mayRunLate)) return;
          if (!mayRunLate) throw unavailable();
          // Its first workflow is over and has left the order unwritten, or to nobody. Rows and charges have the same names in a
          // second one, which goes on from what is there.
          await this.startOrJoin(input, 'ALLOW_DUPLICATE');
        }
      });
    } catch (error) {
      if (!mayRunLate || !(error instanceof ServiceError && error.error === 'ServiceUnavailable')) throw error;
      throw new ServiceError('ServiceUnavailable', 'The service could not answer in time; sent again with its Idempotency-Key, the request is answered and done once.');
    }
  }

  /**
   * The order of a creation that came before, once its first answer is known; `undefined` when it is not written yet, or nobody
   * is there any more to bring it to its end: it has to be asked for again.
   */
  async findCreated(order_id: string, deadline_at: number): Promise<OrderView | undefined> {
    if ((await findOrderView(this.db, order_id)) === undefined) return undefined;
    let over = false;
    const order = await this.answered(order_id, deadline_at, async () => {
      try {
        await this.client.workflow.getHandle(orderWorkflowId(order_id)).getUpdateHandle<void>(CREATE_UPDATE_ID).result();
      } catch (error) {
        if (!isOver(error)) throw error;
        over = true;
      }
    });
    return over && !isFinal(ORDER_MOVES, order.status) ? undefined : order;
  }

  private async startOrJoin(input: CreateOrderInput, workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE'): Promise<void> {
    const { order } = input;
    const start = new WithStartWorkflowOperation(ORDER_WORKFLOW, {
      workflowId: orderWorkflowId(order.id),
      taskQueue: TASK_QUEUE,
      args: [{ order_id: order.id }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy,
      typedSearchAttributes: [
        { key: ORDER_STATUS, value: 'new' },
        { key: PROJECT_ID, value: order.project_id },
      ],
      staticSummary: `${formatAmount(order.amount, order.currency, 'en')}, ${order.merchant_order_id ?? order.id}`,
    });
    await this.client.workflow.executeUpdateWithStart(createOrder, { startWorkflowOperation: start, updateId: CREATE_UPDATE_ID, args: [input] });
  }

  /** A second call for the same attempt, from wherever, is the same payment and gets the same answer. */
  async pay(order_id: string, input: SubmitPaymentInput, deadline_at: number): Promise<OrderView> {
    const update_id = paymentUpdateId(input.transaction.attempt);
    const submit = (updateId: string) =>
      this.answered(order_id, deadline_at, async () => {
        await this.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(submitPayment, { updateId, args: [input] });
      });
    try {
      return await submit(update_id);
    } catch (error) {
      // Temporal keeps the refusal of a call that came too late: this one is in time and goes under a name of its own. The
      // workflow takes one at a time and starts no attempt twice.
      if (!(error instanceof ServiceError && error.error === 'ServiceUnavailable') || input.not_after === undefined) throw error;
      return await submit(`${update_id}:${input.not_after}`);
    }
  }

  /**
   * The processor has news of a transaction, or may have: its order asks now instead of later. Where the transaction has ended
   * unpaid the news may be an approval that came too late, which is then given back. An order that ends in between has heard the
   * signal, and gives back itself.
   */
  async askNow({ order_id, transaction_id }: { order_id: string; transaction_id: string }, deadline_at: number): Promise<void> {
    try {
      await this.client.withDeadline(deadline_at, async () => {
        await this.signal(order_id);
        await this.startReversal(transaction_id);
      });
    } catch (error) {
      throw isSilence(error) ? unavailable() : error;
    }
  }

  /** A workflow that is over needs no news. */
  private async signal(order_id: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(orderWorkflowId(order_id)).signal(processorAnswered);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** Only a transaction that ended unpaid has anything to give back; the workflow asks the processor whether it does. */
  private async startReversal(transaction_id: string): Promise<void> {
    if (!(await endedUnpaid(this.db, transaction_id))) return;
    try {
      await this.client.workflow.start(REVERSAL_WORKFLOW, {
        workflowId: reversalWorkflowId(transaction_id),
        taskQueue: TASK_QUEUE,
        // One that found nothing to give back leaves room for news that come later.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        args: [{ transaction_id }],
        staticSummary: `Late approval of ${transaction_id}`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  async cancel(order_id: string, input: CancelOrderInput, deadline_at: number): Promise<OrderView> {
    return await this.answered(order_id, deadline_at, async () => {
      await this.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(cancelOrder, { args: [input] });
    });
  }

  /** Runs the call within the deadline; whatever became of it, the order in the database is the answer, if it is there. */
  private async answered(order_id: string, deadline_at: number, call: () => Promise<void>): Promise<OrderView> {
    let silent = false;
    try {
      await this.client.withDeadline(deadline_at, call);
    } catch (error) {
      if (!isSilence(error)) throw refusalOf(error, order_id);
      silent = true;
    }
    const order = await findOrderView(this.db, order_id);
    if (order !== undefined) return order;
    throw silent ? unavailable() : new ServiceError('NotFound', 'The order does not exist.');
  }
}

function unavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; nothing was stored or charged.');
}

/** Whether the workflow, or its update, is closed or forgotten: nothing is under way any more. */
function isOver(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/** Whether nobody answered: no worker, or Temporal is slow or away. */
function isSilence(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return isGrpcServiceError(cause) && [1, 4, 8, 14].includes(Number(cause.code)); // cancelled, deadline exceeded, exhausted, unavailable
}

function refusalOf(error: unknown, order_id: string): unknown {
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure && isErrorName(error.cause.type)) {
    const [property] = (error.cause.details ?? []) as [ErrorProperty?];
    return new ServiceError(error.cause.type, error.cause.message, property ?? {});
  }
  // The workflow of a final order is closed, and some day deleted: the order cannot change any more.
  if (error instanceof WorkflowNotFoundError) return new ServiceError('Conflict', `Order ${order_id} is final and cannot change any more.`);
  return error;
}
