import { WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { findOrderView, type OrderView } from '../db/orders/order-view';
import { formatAmount } from '../domain/currency';
import { isEnding } from '../domain/order';
import { asMarkdown } from '../domain/shown-text';
import { ORDER_MOVES, isFinal } from '../domain/transitions';
import { ServiceError } from '../errors';
import {
  CREATE_UPDATE_ID,
  createUpdateId,
  ORDER_STATUS,
  ORDER_WORKFLOW,
  PROJECT_ID,
  TASK_QUEUE,
  cancelOrder,
  clockMoved,
  createOrder,
  orderWorkflowId,
  paymentUpdateId,
  processorAnswered,
  recordChanged,
  settleByHand,
  submitPayment,
  type CancelOrderInput,
  type CreateOrderInput,
  type OrderInput,
  type OrderWorkflow,
  type SettleByHandInput,
  type SubmitPaymentInput,
} from '../../workflows/messages';
import {
  callThenReadOrder,
  joinCreation,
  isWorkflowClosed,
  retryUnderNewUpdateId,
  signalOrStart,
  unlessClosed,
  updateOrRestart,
  type TemporalAccess,
} from './call';

/** An order whose workflow is started. */
interface StartedOrder {
  order_id: string;
  project_id: string;
}

/** Start options of an order's workflow; operators find it by its search attributes. */
export function orderStart({ order_id, project_id }: StartedOrder) {
  return {
    workflowId: orderWorkflowId(order_id),
    taskQueue: TASK_QUEUE,
    args: [{ order_id }] as [OrderInput],
    typedSearchAttributes: [
      { key: ORDER_STATUS, value: 'new' },
      { key: PROJECT_ID, value: project_id },
    ],
    staticSummary: `Order of project ${project_id}`,
  };
}

/** Start options that join a running workflow of the order; one that is closed or lost starts again from the record. */
export function orderRestart(order: StartedOrder) {
  return {
    ...orderStart(order),
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
  };
}

/**
 * Workflows of payment orders. Methods with a deadline (epoch milliseconds) return the order as stored afterwards; they
 * throw the workflow's refusal as a ServiceError, and ServiceUnavailable when there was no answer in time and nothing
 * is stored.
 */
export class Orders {
  constructor(private readonly temporal: TemporalAccess) {}

  /** Creates an order. A repeat joins the creation under way, or gets its result. */
  async create(input: CreateOrderInput, deadline_at: number): Promise<OrderView> {
    const { request_id } = input;
    const order_id = input.order.id;
    // Only a request with an Idempotency-Key may still run after its sender got a 503.
    const may_run_late = input.not_after === undefined;
    const create = (update_id: string) =>
      callThenReadOrder(this.temporal, { order_id, deadline_at, may_run_late, request_id }, async () => {
        try {
          await this.startOrJoin(input, update_id, 'REJECT_DUPLICATE');
        } catch (error) {
          if (!isWorkflowClosed(error)) throw error;
          const order = await findOrderView(this.temporal.db, order_id);
          if (order !== undefined && (isFinal(ORDER_MOVES, order.status) || !may_run_late)) return;
          // The first workflow ended without writing the order, or without finishing it. A second one uses the same ids
          // for rows and charges, and goes on from what exists.
          await this.startOrJoin(input, update_id, 'ALLOW_DUPLICATE');
        }
      });
    return may_run_late
      ? await retryUnderNewUpdateId(CREATE_UPDATE_ID, deadline_at, create)
      : await create(createUpdateId(request_id));
  }

  /**
   * The order of an earlier creation with the same Idempotency-Key, once its first answer is known: joins the creation
   * that is under way. `undefined` when none is, and the order does not exist or has no workflow to finish it: it has to
   * be created again.
   */
  async joinCreation(order_id: string, deadline_at: number): Promise<OrderView | undefined> {
    const read = () => findOrderView(this.temporal.db, order_id);
    const request = { subject: `Order ${order_id}`, read, deadline_at };
    const joined = await joinCreation(this.temporal, request, orderWorkflowId(order_id));
    const is_lost = joined?.is_over === true && !isFinal(ORDER_MOVES, joined.view.status);
    return is_lost ? undefined : joined?.view;
  }

  /** Pays one attempt. A second call for the same attempt is the same payment and gets the same answer. */
  async pay(order_id: string, input: SubmitPaymentInput, deadline_at: number): Promise<OrderView> {
    const { request_id } = input;
    return await callThenReadOrder(
      this.temporal,
      { order_id, deadline_at, request_id, is_recorded: true },
      async () => {
        try {
          await this.update(order_id, submitPayment, { updateId: paymentUpdateId(input), args: [input] });
        } catch (error) {
          // The form was sent before: that payment may have ended the order.
          const order = isWorkflowClosed(error) ? await findOrderView(this.temporal.db, order_id) : undefined;
          const paid = order?.transactions.find(({ id }) => id === input.transaction.id);
          if (paid === undefined || isEnding(paid.status)) throw error;
        }
      },
    );
  }

  /** Cancels an order. Throws CanNotCancelTransaction also when it has ended meanwhile. */
  async cancel(order_id: string, input: CancelOrderInput, deadline_at: number): Promise<OrderView> {
    let closed = false;
    const order = await callThenReadOrder(this.temporal, { order_id, deadline_at, is_recorded: true }, async () => {
      try {
        await this.update(order_id, cancelOrder, { args: [input] });
      } catch (error) {
        if (!isWorkflowClosed(error)) throw error;
        closed = true;
      }
    });
    if (!closed || order.status === 'cancelled') return order;
    throw new ServiceError('CanNotCancelTransaction', `The order is ${order.status} and cannot be cancelled.`);
  }

  /** An operator settles the outcome of the order's charge. Throws Conflict when none is awaited. */
  async settle(order_id: string, input: SettleByHandInput, deadline_at: number): Promise<void> {
    await callThenReadOrder(this.temporal, { order_id, deadline_at, is_recorded: true }, () =>
      this.update(order_id, settleByHand, { args: [input] }),
    );
  }

  /**
   * The processor has, or may have, an outcome for the order: its workflow asks now instead of later. A closed workflow
   * has its outcome; it starts again when Temporal has lost it, or when an operator settled the outcome by hand, to
   * compare the two.
   */
  async requestPoll(order_id: string): Promise<void> {
    try {
      await this.handle(order_id).signal(processorAnswered);
    } catch (error) {
      if (!isWorkflowClosed(error)) throw error;
      const order = await findOrderView(this.temporal.db, order_id);
      if (order?.kind !== 'payment' || (isFinal(ORDER_MOVES, order.status) && !isSettledByHand(order))) return;
      await this.temporal.client.workflow.signalWithStart<OrderWorkflow>(
        ORDER_WORKFLOW,
        signalOrStart(orderStart({ order_id, project_id: order.project_id }), processorAnswered),
      );
    }
  }

  /** The order's record is ahead of its workflow, which reads it; a closed workflow need not know. */
  async recordChanged(order_id: string): Promise<void> {
    await unlessClosed(() => this.handle(order_id).signal(recordChanged));
  }

  /** Starts the order's workflow from the record unless it is running. */
  async start(order: StartedOrder): Promise<void> {
    await unlessClosed(() =>
      this.temporal.client.workflow.start<OrderWorkflow>(ORDER_WORKFLOW, {
        ...orderStart(order),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
    );
  }

  /** The order's workflow reads the record and goes on from there; one that is closed or lost starts again. */
  async resume(order: StartedOrder): Promise<void> {
    await this.temporal.client.workflow.signalWithStart<OrderWorkflow>(
      ORDER_WORKFLOW,
      signalOrStart(orderStart(order), recordChanged),
    );
  }

  /** The order's clock was moved. A workflow that is closed or lost starts again from the record. */
  async moveClock(order: StartedOrder): Promise<void> {
    await this.temporal.client.workflow.signalWithStart<OrderWorkflow>(
      ORDER_WORKFLOW,
      signalOrStart(orderStart(order), clockMoved),
    );
  }

  private handle(order_id: string) {
    return this.temporal.client.workflow.getHandle(orderWorkflowId(order_id));
  }

  private async startOrJoin(
    input: CreateOrderInput,
    updateId: string,
    workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  ): Promise<void> {
    const { order } = input;
    const startWorkflowOperation = new WithStartWorkflowOperation<OrderWorkflow>(ORDER_WORKFLOW, {
      ...orderStart({ order_id: order.id, project_id: order.project_id }),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy,
      staticSummary: `${formatAmount(order.amount, order.currency, 'en')}, ${asMarkdown(order.merchant_order_id ?? order.id)}`,
    });
    await this.temporal.client.workflow.executeUpdateWithStart(createOrder, {
      startWorkflowOperation,
      updateId,
      args: [input],
    });
  }

  /** Updates an order's workflow. If Temporal lost the workflow of an open order, it starts again from the record. */
  private async update<Input>(
    order_id: string,
    definition: UpdateDefinition<unknown, [Input]>,
    options: { updateId?: string; args: [Input] },
  ): Promise<void> {
    const { client, db } = this.temporal;
    await updateOrRestart(client, orderWorkflowId(order_id), { definition, options }, async () => {
      const order = await findOrderView(db, order_id);
      if (order === undefined || isFinal(ORDER_MOVES, order.status)) return undefined;
      return new WithStartWorkflowOperation<OrderWorkflow>(
        ORDER_WORKFLOW,
        orderRestart({ order_id, project_id: order.project_id }),
      );
    });
  }
}

function isSettledByHand({ transactions }: OrderView): boolean {
  return transactions.some(({ events }) => events.some(({ source }) => source === 'operator'));
}
