import { WithStartWorkflowOperation, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import type { Database } from '../src/db/connection';
import { findOrderView, type OrderView } from '../src/db/order-view';
import { answeredOrder, isOver, isSilence, unavailable } from './answered-order';
import { formatAmount } from '../src/domain/currency';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError } from '../src/errors';
import {
  CREATE_UPDATE_ID,
  ORDER_WORKFLOW,
  cancelOrder,
  createOrder,
  orderNews,
  orderRestart,
  orderStart,
  orderWorkflowId,
  paymentUpdateId,
  processorAnswered,
  submitPayment,
  type CancelOrderInput,
  type CreateOrderInput,
  type OrderWorkflow,
  type SubmitPaymentInput,
} from '../workflows/messages';

/** Time reserved for telling the merchant that nothing was done, in milliseconds. */
const MARGIN_MS = 2_000;

/** When a request's work may no longer begin, so that "nothing was stored" stays true (rules 10.5). Epoch milliseconds. */
export function notAfter(deadline_at: number): number {
  return deadline_at - MARGIN_MS;
}

/**
 * The API's access to the orders' workflows. Methods return the order as stored afterwards.
 * They throw the workflow's refusal as a ServiceError; ServiceUnavailable when there was no answer in time and nothing is stored.
 */
export class Orders {
  constructor(
    private readonly client: Client,
    private readonly db: Database,
  ) {}

  /** Creates an order. A repeat joins the creation under way, or gets its result. */
  async create(input: CreateOrderInput, deadline_at: number): Promise<OrderView> {
    const { id } = input.order;
    // Only a request with an Idempotency-Key may still run after its sender got a 503.
    const may_run_late = input.not_after === undefined;
    const create = (updateId: string) =>
      answeredOrder({ client: this.client, db: this.db, order_id: id, deadline_at, may_run_late }, async () => {
        try {
          await this.startOrJoin(input, updateId, 'REJECT_DUPLICATE');
        } catch (error) {
          if (!isOver(error)) throw error;
          const order = await findOrderView(this.db, id);
          if (order !== undefined && (isFinal(ORDER_MOVES, order.status) || !may_run_late)) return;
          if (!may_run_late) throw unavailable();
          // The first workflow ended without writing the order, or without finishing it. A second one uses the same ids for rows and
          // charges, and goes on from what exists.
          await this.startOrJoin(input, updateId, 'ALLOW_DUPLICATE');
        }
      });
    // A creation may have been refused because its workflow had given it up as lost.
    return may_run_late
      ? await despiteKeptRefusal(CREATE_UPDATE_ID, deadline_at, create)
      : await create(CREATE_UPDATE_ID);
  }

  /**
   * The order of an earlier creation, once its first answer is known. `undefined` when it is not written yet, or has no workflow to
   * finish it: it has to be created again.
   */
  async findCreated(order_id: string, deadline_at: number): Promise<OrderView | undefined> {
    if ((await findOrderView(this.db, order_id)) === undefined) return undefined;
    let over = false;
    const order = await this.answered(order_id, deadline_at, async () => {
      try {
        await this.client.workflow
          .getHandle(orderWorkflowId(order_id))
          .getUpdateHandle<void>(CREATE_UPDATE_ID)
          .result();
      } catch (error) {
        // The order is there, so whatever failed was not its creation.
        if (isSilence(error)) throw error;
        over = true;
      }
    });
    return over && !isFinal(ORDER_MOVES, order.status) ? undefined : order;
  }

  private async startOrJoin(
    input: CreateOrderInput,
    updateId: string,
    workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  ): Promise<void> {
    const { order } = input;
    const start = new WithStartWorkflowOperation(ORDER_WORKFLOW, {
      ...orderStart({ order_id: order.id, project_id: order.project_id }),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy,
      staticSummary: `${formatAmount(order.amount, order.currency, 'en')}, ${order.merchant_order_id ?? order.id}`,
    });
    await this.client.workflow.executeUpdateWithStart(createOrder, {
      startWorkflowOperation: start,
      updateId,
      args: [input],
    });
  }

  /** Pays one attempt. A second call for the same attempt is the same payment and gets the same answer. */
  async pay(order_id: string, input: SubmitPaymentInput, deadline_at: number): Promise<OrderView> {
    const update_id = paymentUpdateId(input.transaction.attempt);
    const submit = (updateId: string) =>
      this.answered(order_id, deadline_at, async () => {
        await this.update(order_id, submitPayment, { updateId, args: [input] });
      });
    // An earlier call for this attempt may have come too late; the workflow starts no attempt twice.
    return input.not_after === undefined
      ? await submit(update_id)
      : await despiteKeptRefusal(update_id, input.not_after, submit);
  }

  /**
   * The processor has, or may have, news of the order: its workflow asks now instead of later. A workflow that has done its work needs
   * no signal; one that Temporal has lost starts again.
   */
  async askNow(order_id: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(orderWorkflowId(order_id)).signal(processorAnswered);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      const order = await findOrderView(this.db, order_id);
      if (order?.kind === 'payment' && !isFinal(ORDER_MOVES, order.status)) {
        await this.client.workflow.signalWithStart(
          ORDER_WORKFLOW,
          orderNews({ order_id, project_id: order.project_id }),
        );
      }
    }
  }

  /** Cancels an order. Throws CanNotCancelTransaction also when it has ended meanwhile. */
  async cancel(order_id: string, input: CancelOrderInput, deadline_at: number): Promise<OrderView> {
    let over = false;
    const order = await this.answered(order_id, deadline_at, async () => {
      try {
        await this.update(order_id, cancelOrder, { args: [input] });
      } catch (error) {
        if (!isOver(error)) throw error;
        over = true;
      }
    });
    if (!over || order.status === 'cancelled') return order;
    throw new ServiceError('CanNotCancelTransaction', `The order is ${order.status} and cannot be cancelled.`);
  }

  /** Updates an order's workflow. If Temporal lost the workflow of an open order, it starts again from the record. */
  private async update<Input>(
    order_id: string,
    definition: UpdateDefinition<void, [Input]>,
    options: { updateId?: string; args: [Input] },
  ): Promise<void> {
    try {
      await this.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(definition, options);
    } catch (error) {
      if (!isOver(error)) throw error;
      const order = await findOrderView(this.db, order_id);
      if (order === undefined || isFinal(ORDER_MOVES, order.status)) throw error;
      const startWorkflowOperation = new WithStartWorkflowOperation<OrderWorkflow>(
        ORDER_WORKFLOW,
        orderRestart({ order_id, project_id: order.project_id }),
      );
      await this.client.workflow.executeUpdateWithStart(definition, { ...options, startWorkflowOperation });
    }
  }

  private async answered(order_id: string, deadline_at: number, call: () => Promise<void>): Promise<OrderView> {
    return await answeredOrder({ client: this.client, db: this.db, order_id, deadline_at }, call);
  }
}

/** Temporal keeps the refusal of an earlier call under its update id. This call is in time, so it is sent again under an id of its own. */
async function despiteKeptRefusal(
  update_id: string,
  instant: number,
  send: (update_id: string) => Promise<OrderView>,
): Promise<OrderView> {
  try {
    return await send(update_id);
  } catch (error) {
    if (!(error instanceof ServiceError && error.error === 'ServiceUnavailable')) throw error;
    return await send(`${update_id}:${instant}`);
  }
}
