import type { Client } from '@temporalio/client';
import type { Database } from '../src/db/connection';
import { findOrderView } from '../src/db/order-view';
import { endedUnpaid } from '../src/db/transactions';
import { OF_THE_PROCESSOR } from '../src/domain/follow-up';
import { processorOrderId, reversalOrderId } from '../src/ids';
import type { OperationResult } from '../src/processor/wire';
import { FOLLOW_UP_WORKFLOW, followUpNews, lateReversal, type FollowUpInput } from '../workflows/messages';
import { isSilence, unavailable } from './answered-order';
import type { Orders } from './orders';

/**
 * What the API does when the processor has, or may have, news: it tells a workflow, which asks the processor by key. Methods throw
 * ServiceUnavailable after the deadline (epoch milliseconds), and are safe to repeat.
 */
export class ProcessorNews {
  constructor(
    private readonly client: Client,
    private readonly db: Database,
    private readonly orders: Pick<Orders, 'askNow'>,
  ) {}

  /**
   * The processor has said so itself. About a payment: its order asks now, and a late approval is given back. About a follow-up order:
   * it asks now. About what the processor did by itself: it is recorded once.
   */
  async told(
    { operation, idempotency_key, order_id, transaction_id, follow_up_order_id }: OperationResult,
    deadline_at: number,
  ): Promise<void> {
    await this.inTime(deadline_at, async () => {
      if (operation === 'chargeback' || operation === 'chargeback_reversal') {
        await this.record({
          kind: OF_THE_PROCESSOR[operation],
          processor_key: idempotency_key,
          order_id,
          transaction_id,
        });
      } else if (follow_up_order_id !== undefined) {
        await this.orders.askNow(follow_up_order_id);
      } else {
        await this.askAbout({ order_id, transaction_id });
      }
    });
  }

  /** A customer has come back from the issuer, where the payment may have been approved or declined. */
  async customerReturned(payment: { order_id: string; transaction_id: string }, deadline_at: number): Promise<void> {
    await this.inTime(deadline_at, () => this.askAbout(payment));
  }

  /** Only a transaction that ended unpaid may have been approved late. */
  private async askAbout({ order_id, transaction_id }: { order_id: string; transaction_id: string }): Promise<void> {
    await this.orders.askNow(order_id);
    const payment = await endedUnpaid(this.db, transaction_id);
    if (payment !== undefined) await this.tell(lateReversal(payment, reversalOrderId(transaction_id)));
  }

  /** News about an unknown payment is ignored. */
  private async record(done: {
    kind: 'chargeback' | 'reversal';
    processor_key: string;
    order_id: string;
    transaction_id: string;
  }): Promise<void> {
    const { kind, processor_key, order_id, transaction_id } = done;
    const payment = await findOrderView(this.db, order_id);
    if (payment === undefined) return;
    await this.tell({
      id: processorOrderId(transaction_id, processor_key),
      project_id: payment.project_id,
      kind,
      requested_by: 'processor',
      processor_key,
      original_order_id: order_id,
      original_transaction_id: transaction_id,
    });
  }

  private async tell(input: FollowUpInput): Promise<void> {
    await this.client.workflow.signalWithStart(FOLLOW_UP_WORKFLOW, followUpNews(input));
  }

  private async inTime(deadline_at: number, call: () => Promise<void>): Promise<void> {
    try {
      await this.client.withDeadline(deadline_at, call);
    } catch (error) {
      throw isSilence(error) ? unavailable() : error;
    }
  }
}
