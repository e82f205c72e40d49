import type { StoredOrder } from '../db/orders/stored-order';
import type { AcceptedRequest } from '../domain/accepted-request';
import { formatAmount } from '../domain/currency';
import { canNotCancel, isEnding } from '../domain/order';
import type { OrderStatus } from '../domain/transitions';
import { asMarkdown } from '../domain/shown-text';
import {
  ORDER_STATUS,
  cancelOrderUpdate,
  createOrderUpdate,
  createUpdateId,
  paymentUpdateId,
  pollNowUpdate,
  processorAnswered,
  setOutcomeUpdate,
  submitPaymentUpdate,
  type CancelOrderInput,
  type CreateOrderInput,
  type SetOutcomeInput,
  type SubmitPaymentInput,
} from '../../workflows/messages';
import { unlessClosed, type TemporalAccess } from './call';
import { isWorkflowClosed } from './call-errors';
import { KINDS, type StartedOrder } from './kinds';
import { RecordedWorkflows } from './object-workflows';

/** Workflows of payment orders. */
export class OrderWorkflows extends RecordedWorkflows<StartedOrder, StoredOrder> {
  protected override readonly on_restart = processorAnswered;

  constructor(temporal: TemporalAccess) {
    super(temporal, KINDS.order);
  }

  /** Creates an order. A repeat joins the creation under way, or gets its result. */
  async create(input: CreateOrderInput): Promise<StoredOrder> {
    const { order, request } = input;
    const { id: order_id, project_id, merchant_order_id = order_id } = order;
    return await this.createObject(order_id, request, {
      object: { order_id, project_id },
      update: { definition: createOrderUpdate, updateId: createUpdateId(request), args: [input] },
      staticSummary: `${formatAmount(order.amount, order.currency, 'en')}, ${asMarkdown(merchant_order_id)}`,
    });
  }

  /**
   * The order of an earlier creation with the same Idempotency-Key, once its first answer is known: joins the creation
   * that is under way. An order whose workflow was lost meanwhile, or goes on in a new run, goes on, and an outcome that
   * is awaited is polled. `undefined` when there is no order: then the creation has to be repeated.
   */
  async joinCreation(order_id: string, request: AcceptedRequest): Promise<StoredOrder | undefined> {
    const joined = await this.join(order_id, request);
    if (joined?.is_over !== true || this.kind.isFinal(joined.view)) return joined?.view;
    return await this.call(order_id, request, 'create', async () => {
      await unlessClosed(() => this.update(order_id, { definition: pollNowUpdate, args: [] }));
    });
  }

  /** Pays one attempt. A repeated call for the same attempt joins the payment and gets the same answer. */
  async pay(order_id: string, input: SubmitPaymentInput): Promise<StoredOrder> {
    const update = {
      definition: submitPaymentUpdate,
      updateId: paymentUpdateId(input),
      args: [input] as [SubmitPaymentInput],
    };
    return await this.call(order_id, input.request, 'pay', async () => {
      try {
        await this.update(order_id, update);
      } catch (error) {
        // Repeated form submission: the first one may have ended the order.
        const order = isWorkflowClosed(error) ? await this.kind.find(this.temporal.db, order_id) : undefined;
        const paid = order?.transactions.find(({ id }) => id === input.transaction.id);
        if (paid === undefined || isEnding(paid.status)) throw error;
      }
    });
  }

  /**
   * Cancels an order. Throws CanNotCancelTransaction, also when the order has ended meanwhile, and ServiceUnavailable
   * while the processor does not say whether it is paid. `updateId`: the same for each repeat of the request.
   */
  async cancel(order_id: string, input: CancelOrderInput, updateId?: string): Promise<StoredOrder> {
    const { view: order, was_closed } = await this.change(order_id, input.request, {
      definition: cancelOrderUpdate,
      args: [input],
      ...(updateId !== undefined && { updateId }),
    });
    if (!was_closed || order.status === 'cancelled') return order;
    throw canNotCancel(order.status);
  }

  /** An operator sets the outcome of the order's charge. Throws Conflict when none is awaited. */
  async setOutcome(order_id: string, input: SetOutcomeInput, request: AcceptedRequest): Promise<void> {
    await this.call(order_id, request, 'change', () =>
      this.update(order_id, { definition: setOutcomeUpdate, args: [input] }),
    );
  }

  /** Whether the order's workflow runs and knows that the order has this status: one read, which wakes no worker. */
  async isRunningWith(order_id: string, order_status: OrderStatus): Promise<boolean> {
    try {
      const { status, typedSearchAttributes } = await this.handle(order_id).describe();
      return status.name === 'RUNNING' && typedSearchAttributes.get(ORDER_STATUS) === order_status;
    } catch (error) {
      if (!isWorkflowClosed(error)) throw error;
      return false;
    }
  }

  /**
   * Polls the processor now about an order for which it has, or may have, an outcome. A closed workflow has its outcome
   * and is left alone. A lost workflow restarts, and so does a closed one whose outcome was set by hand, to compare the
   * two outcomes.
   */
  async requestPoll(order_id: string): Promise<void> {
    if (await this.signalRunning(order_id, processorAnswered)) return;
    const order = await this.kind.find(this.temporal.db, order_id);
    if (order?.kind !== 'payment' || (this.kind.isFinal(order) && !hasManualOutcome(order))) return;
    await this.signalOrStart({ order_id, project_id: order.project_id }, processorAnswered);
  }
}

function hasManualOutcome({ transactions }: StoredOrder): boolean {
  return transactions.some(({ events }) => events.some(({ source }) => source === 'operator'));
}
