import { lastTransaction, type OrderRecord } from '../src/domain/order-record';
import { isEnding } from '../src/domain/order';
import { POLL_AFTER_END_MS } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { local } from './activities';
import type { ObjectClock } from './clock';
import type { OrderInput } from './messages';

type Resumed = NonNullable<OrderInput['resumed']>;

/**
 * The processor may approve a charge that has ended here. A reversal order then gives the money back (rules 10.11); its
 * workflow polls the processor after a while, or as soon as there is a sign of an approval (rules 10.12).
 */
export class LateApproval {
  /** The transaction that the processor may still approve after we have ended it. */
  private unconfirmed: string | undefined;
  /** A charge may have been sent by a worker that died before it could record or report it. */
  mayHaveCharged: boolean;

  constructor(
    resumed: Resumed | undefined,
    private readonly clock: ObjectClock,
  ) {
    this.unconfirmed = resumed?.unconfirmed_transaction_id;
    this.mayHaveCharged = resumed?.may_have_charged ?? false;
  }

  /** A customer at the issuer may pay there after the order has ended here. */
  observe(record: OrderRecord): void {
    const last = lastTransaction(record);
    if (last?.status === 'pending') this.unconfirmed = last.id;
    else if (last?.status === 'error') this.unconfirmed = undefined;
  }

  /** An attempt became `error` because its time was over, not because the processor said so. */
  async watchAbandoned(record: OrderRecord, transaction_id: string): Promise<void> {
    // The end of the workflow looks after the last attempt; while the order is open another one may follow.
    if (isFinal(ORDER_MOVES, record.status)) this.unconfirmed = transaction_id;
    else await this.startReversal({ transaction_id, poll_after_ms: POLL_AFTER_END_MS });
  }

  /** At the end of the order's workflow: starts the reversal's when the last transaction may still be approved. */
  async watchEnded(record: OrderRecord, pollRequested: boolean): Promise<void> {
    const last = lastTransaction(record);
    if (last === undefined) return;
    const { id: transaction_id, status } = last;
    const endedTogether = isEnding(record.status) && status === record.status;
    const mayBePaid =
      (transaction_id === this.unconfirmed && status !== 'accepted') || (endedTogether && this.mayHaveCharged);
    if (mayBePaid) await this.startReversal({ transaction_id, poll_after_ms: POLL_AFTER_END_MS });
    // A signal that arrived while the order was ending may be about an approval. Later signals reach the reversal's
    // workflow.
    if (pollRequested && (mayBePaid || endedTogether)) await this.startReversal({ transaction_id });
  }

  private async startReversal(reversal: { transaction_id: string; poll_after_ms?: number }): Promise<void> {
    await local.startReversal({ ...reversal, now: this.clock.now() });
  }

  toResume(): Pick<Resumed, 'unconfirmed_transaction_id' | 'may_have_charged'> {
    return { unconfirmed_transaction_id: this.unconfirmed, may_have_charged: this.mayHaveCharged };
  }
}
