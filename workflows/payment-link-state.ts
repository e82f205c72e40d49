import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { linkRefusal, type PaymentLinkRecord } from '../src/domain/payment-link';
import { PAYMENT_LINK_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError } from '../src/errors';
import { local } from './activities';
import { ObjectClock } from './clock';
import { describePaymentLink } from './payment-link-details';
import { refusal } from './refusal';
import { PAYMENT_LINK_STATUS } from './search-attributes';
import { Waits } from './wait';

/** After so many attempts the link continues in a new run, before its history grows long. */
const ATTEMPTS_PER_RUN = 10;

/** The state of a payment link's workflow: the link as recorded, and the little that the record does not say. */
export class PaymentLinkState {
  readonly clock = new ObjectClock();
  readonly waits = new Waits(this.clock);
  /** The link as last recorded; undefined until it exists. */
  record: PaymentLinkRecord | undefined;
  /** The record may be newer than `record`. */
  recordIsStale = false;
  /** The link does not exist, and will not: its creation was refused, failed, or came too late. */
  refused = false;
  /** A request to create the link has arrived. */
  creationRequested = false;
  /** The order of the attempt that is under way. */
  attemptUnderWay: string | undefined;
  attemptsInRun = 0;

  constructor(
    readonly payment_link_id: string,
    readonly continued: boolean,
  ) {}

  /** The link as recorded. Throws the NotFound that an update answers when there is none. */
  requireRecord(): PaymentLinkRecord {
    if (this.record === undefined) throw refusal(new ServiceError('NotFound', 'The payment link does not exist.'));
    return this.record;
  }

  /**
   * Runs an activity that answers the record. One that has applied its answer meanwhile may have read a newer record: then
   * the record is read again. Versions are not compared: those of a record that was restored are older.
   */
  async apply(activity: () => Promise<PaymentLinkRecord | null>): Promise<void> {
    const before = this.record;
    const record = await activity();
    if (this.record !== before) this.recordIsStale = true;
    else if (record === null) this.refused = true;
    else this.applyRecord(record);
  }

  /** Every change goes through here, so that the operator sees the recorded status. */
  private applyRecord(record: PaymentLinkRecord): void {
    const { namespace, typedSearchAttributes } = workflowInfo();
    // Each change costs an event. The start request sets PaymentLinkStatus to `new`; a new run keeps it.
    if ((typedSearchAttributes.get(PAYMENT_LINK_STATUS) ?? 'new') !== record.status) {
      upsertSearchAttributes([{ key: PAYMENT_LINK_STATUS, value: record.status }]);
    }
    this.record = record;
    this.clock.moveTo(record.clock_offset_ms);
    setCurrentDetails(describePaymentLink(record, namespace));
  }

  /** Reads the link where this workflow may not know how it stands. */
  async readRecord(): Promise<void> {
    if (this.record !== undefined && !this.recordIsStale && this.record.status !== 'processing') return;
    this.recordIsStale = false;
    const must_exist = this.record !== undefined || this.continued;
    const { payment_link_id } = this;
    await this.apply(() => local.findPaymentLink({ payment_link_id, must_exist }));
  }

  /** Throws TransactionAlreadyStarted while the attempt of another order is under way. */
  refuseWhileBusy(order_id: string): void {
    if (this.attemptUnderWay !== undefined && this.attemptUnderWay !== order_id) {
      throw refusal(linkRefusal('in_progress'));
    }
  }

  get isFinished(): boolean {
    return this.record === undefined || isFinal(PAYMENT_LINK_MOVES, this.record.status);
  }

  get needsNewRun(): boolean {
    return workflowInfo().continueAsNewSuggested || this.attemptsInRun >= ATTEMPTS_PER_RUN;
  }
}
