import { WithStartWorkflowOperation, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Database } from '../src/db/connection';
import { findOrderView, type OrderView } from '../src/db/order-view';
import { endedUnpaid } from '../src/db/transactions';
import { OF_THE_PROCESSOR } from '../src/domain/follow-up';
import { processorOrderId, reversalOrderId } from '../src/ids';
import type { OperationResult } from '../src/processor/wire';
import {
  FOLLOW_UP_WORKFLOW,
  ORDER_WORKFLOW,
  firstAnswer,
  captureOrVoid,
  followUpNews,
  followUpStart,
  lateReversal,
  orderRestart,
  orderWorkflowId,
  type FollowUpInput,
  type CaptureOrVoidInput,
} from '../workflows/messages';
import { answeredOrder, isOver, isSilence, unavailable } from './answered-order';
import type { Orders } from './orders';

/**
 * The API's access to follow-up orders. Captures and voids go through the workflow of the order that holds the money; all others
 * use only their own workflow, as the order's may be long gone. Methods return the follow-up order as stored afterwards, and throw
 * as Orders does.
 */
export class FollowUps {
  constructor(
    private readonly client: Client,
    private readonly db: Database,
    private readonly orders: Pick<Orders, 'askNow'>,
  ) {}

  /**
   * Captures or voids: the order's workflow sets the money aside, the follow-up order's does the rest. A repeat gets the first
   * one's result.
   */
  async captureOrVoid(input: CaptureOrVoidInput, deadline_at: number): Promise<OrderView> {
    return await this.answered(input, deadline_at, async () => {
      const start = new WithStartWorkflowOperation(ORDER_WORKFLOW, orderRestart({ order_id: input.original_order_id, project_id: input.project_id }));
      await this.client.workflow.executeUpdateWithStart(captureOrVoid, { startWorkflowOperation: start, updateId: `follow:${input.order_id}`, args: [input] });
      await this.awaitFirstAnswer(input.order_id);
    });
  }

  /** Refunds: starts the refund's workflow, or joins a running one. */
  async start(input: FollowUpInput, deadline_at: number): Promise<OrderView> {
    return await this.answered(input, deadline_at, async () => {
      try {
        await this.startOrJoin(input, 'REJECT_DUPLICATE');
      } catch (error) {
        if (!isOver(error)) throw error;
        // The first one was refused or is done: decide again only if it left no order.
        if ((await findOrderView(this.db, input.order_id)) === undefined) await this.startOrJoin(input, 'ALLOW_DUPLICATE');
      }
    });
  }

  /**
   * Acts on news from the processor. About a payment: its order asks now, and a late approval is given back. About a follow-up
   * order: it asks now. About what the processor did by itself: it is recorded once. Throws ServiceUnavailable after the deadline.
   */
  async tell({ operation, idempotency_key, order_id, transaction_id, follow_up_order_id }: OperationResult, deadline_at: number): Promise<void> {
    if (operation === 'chargeback' || operation === 'chargeback_reversal') {
      await this.inTime(deadline_at, () => this.record({ kind: OF_THE_PROCESSOR[operation], processor_key: idempotency_key, order_id, transaction_id }));
    } else if (follow_up_order_id !== undefined) {
      await this.inTime(deadline_at, () => this.orders.askNow(follow_up_order_id));
    } else {
      await this.askNow({ order_id, transaction_id }, deadline_at);
    }
  }

  /** Like tell, for a customer who has come back from the issuer: only the payment is known. */
  async askNow({ order_id, transaction_id }: { order_id: string; transaction_id: string }, deadline_at: number): Promise<void> {
    await this.inTime(deadline_at, async () => {
      await this.orders.askNow(order_id);
      await this.giveBackIfLate(transaction_id);
    });
  }

  private async inTime(deadline_at: number, call: () => Promise<void>): Promise<void> {
    try {
      await this.client.withDeadline(deadline_at, call);
    } catch (error) {
      throw isSilence(error) ? unavailable() : error;
    }
  }

  /** Only a transaction that ended unpaid may have been approved late; the workflow asks the processor. */
  private async giveBackIfLate(transaction_id: string): Promise<void> {
    const payment = await endedUnpaid(this.db, transaction_id);
    if (payment === undefined) return;
    await this.startAlone(lateReversal(payment, reversalOrderId(transaction_id)));
  }

  /** News about an unknown payment is ignored. */
  private async record(done: { kind: 'chargeback' | 'reversal'; processor_key: string; order_id: string; transaction_id: string }): Promise<void> {
    const { kind, processor_key, order_id, transaction_id } = done;
    const payment = await findOrderView(this.db, order_id);
    if (payment === undefined) return;
    const input = {
      order_id: processorOrderId(transaction_id, processor_key),
      project_id: payment.project_id,
      kind,
      requested_by: 'processor',
      processor_key,
      original_order_id: order_id,
      original_transaction_id: transaction_id,
    } as const;
    await this.startAlone(input);
  }

  private async startAlone(input: FollowUpInput): Promise<void> {
    await this.client.workflow.signalWithStart(FOLLOW_UP_WORKFLOW, followUpNews(input));
  }

  private async startOrJoin(input: FollowUpInput, workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE'): Promise<void> {
    const start = new WithStartWorkflowOperation(FOLLOW_UP_WORKFLOW, {
      ...followUpStart(input),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy,
    });
    await this.client.workflow.executeUpdateWithStart(firstAnswer, { startWorkflowOperation: start });
  }

  /** A workflow that has ended has had its first answer. */
  private async awaitFirstAnswer(order_id: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(firstAnswer);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  private async answered({ order_id, not_after }: FollowUpInput, deadline_at: number, call: () => Promise<void>): Promise<OrderView> {
    return await answeredOrder({ client: this.client, db: this.db, order_id, deadline_at, may_run_late: not_after === undefined }, call);
  }
}
