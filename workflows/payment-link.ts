import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { isExpired } from '../src/domain/order';
import { isLinkDue, linkObstacle, linkRefusal, type PaymentLinkRecord } from '../src/domain/payment-link';
import { PAYMENT_LINK_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError, tooLate } from '../src/errors';
import { local, paying } from './activities';
import { ObjectClock } from './clock';
import { refusal } from './refusal';
import { Waits } from './wait';
import {
  clockMoved,
  createPaymentLink,
  endPaymentLink,
  payThroughLink,
  recordChanged,
  type PayThroughLinkInput,
  type PaymentLinkInput,
} from './messages';
import { describePaymentLink } from './payment-link-details';
import { PAYMENT_LINK_STATUS } from './search-attributes';

/** After so many attempts the link continues in a new run, before its history grows long. */
const ATTEMPTS_PER_RUN = 10;

/** Longer than the API waits for its first answer. Milliseconds. */
const CREATION_LOST_AFTER_MS = 15_000;

/**
 * The life of one payment link, from its creation to its final status (rules 19). Attempts are updates, one at a time:
 * each makes an order, whose own workflow charges it. Later outcomes of that order arrive as signals; the end of the
 * link is a durable timer. The database has the link; the workflow holds only what the next decision needs. Returns the
 * final status, or `refused`.
 */
export async function paymentLink({ payment_link_id, continued }: PaymentLinkInput): Promise<string> {
  let record: PaymentLinkRecord | undefined;
  let isRefused = false;
  let isCreating = false;
  let recordIsStale = false;
  let attemptIsUnderWay = false;
  let attemptsInRun = 0;
  const clock = new ObjectClock();
  const waits = new Waits(clock);

  /** Every change goes through here, so that the operator sees the recorded status. */
  const applyRecord = (changed: PaymentLinkRecord) => {
    // The start request has set the attribute to `new`, a new run keeps it; setting it again costs an event.
    const shown = record?.status ?? (continued ? changed.status : 'new');
    if (shown !== changed.status) upsertSearchAttributes([{ key: PAYMENT_LINK_STATUS, value: changed.status }]);
    record = changed;
    clock.moveTo(changed.clock_offset_ms);
    setCurrentDetails(describePaymentLink(changed, workflowInfo().namespace));
  };

  setHandler(createPaymentLink, async (input) => {
    isCreating = true;
    if (record !== undefined) return;
    if (isRefused) throw refusal(tooLate());
    try {
      applyRecord(await local.createPaymentLink({ ...input, now: clock.now() }));
    } catch (failure) {
      isRefused = true;
      throw failure;
    }
  });

  setHandler(
    payThroughLink,
    async (input) => {
      // Validators of updates that arrive together may run before the first handler.
      refuseWhileBusy();
      attemptIsUnderWay = true;
      try {
        await readRecord();
        const link = existing();
        const obstacle = linkObstacle(link, clock.now());
        // The order of a repeat exists, and is answered whatever has become of the link.
        if (obstacle !== undefined && !(await local.linkHasOrder({ payment_link_id, order_id: input.order.id }))) {
          throw refusal(linkRefusal(obstacle));
        }
        attemptsInRun += 1;
        const { expires_at } = link;
        const payment_link = { id: payment_link_id, expires_at, clock_offset_ms: clock.offset_ms };
        applyRecord(await paying.payThroughLink({ ...input, payment_link }));
      } finally {
        attemptIsUnderWay = false;
      }
    },
    { validator: (_input: PayThroughLinkInput) => refuseWhileBusy() },
  );

  setHandler(endPaymentLink, async ({ versions }) => {
    await readRecord();
    applyRecord(await local.endPaymentLink({ payment_link_id, versions, now: clock.now() }));
  });

  setHandler(recordChanged, () => {
    recordIsStale = true;
  });

  setHandler(clockMoved, (offset_ms) => clock.moveTo(offset_ms));

  await untilCreated();
  while (record !== undefined && !isFinal(PAYMENT_LINK_MOVES, existing().status)) {
    if (workflowInfo().continueAsNewSuggested || attemptsInRun >= ATTEMPTS_PER_RUN) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof paymentLink>({ payment_link_id, continued: true });
    }
    if (recordIsStale) await readRecord();
    else if (isLinkDue(existing(), clock.now())) {
      applyRecord(await local.expirePaymentLink({ payment_link_id, now: clock.now() }));
    } else await untilChanged(existing());
  }
  await condition(allHandlersFinished);
  return record === undefined ? 'refused' : existing().status;

  /**
   * With Update-with-Start the create handler is running already. A link whose request was lost is read from the
   * record.
   */
  async function untilCreated(): Promise<void> {
    const isSettled = () => record !== undefined || isRefused;
    if (continued || !isCreating) {
      if (!continued) {
        // Its clock is moved only when it exists.
        const isDecided = () => isSettled() || recordIsStale || isCreating || clock.offset_ms > 0;
        const wait = { milliseconds: CREATION_LOST_AFTER_MS, summary: 'until its creation counts as lost' };
        await waits.pause(wait, isDecided);
      }
      if (!isSettled() && !isCreating) await readRecord();
    }
    if (isCreating) await condition(isSettled);
  }

  /** Waits for a change of the record or the end of the link; a payment in progress is waited for beyond that end. */
  async function untilChanged({ version, expires_at }: PaymentLinkRecord): Promise<void> {
    const hasChanged = () =>
      recordIsStale ||
      record?.version !== version ||
      attemptsInRun >= ATTEMPTS_PER_RUN ||
      workflowInfo().continueAsNewSuggested;
    if (isExpired(expires_at, clock.now())) return await condition(hasChanged);
    await waits.until({ at: expires_at, summary: 'until the payment link expires' }, hasChanged);
  }

  async function readRecord(): Promise<void> {
    if (record !== undefined && !recordIsStale && record.status !== 'processing') return;
    recordIsStale = false;
    const found = await local.findPaymentLink({ payment_link_id });
    if (found !== null) applyRecord(found);
    else isRefused = true;
  }

  function refuseWhileBusy(): void {
    if (attemptIsUnderWay) throw refusal(linkRefusal('in_progress'));
  }

  function existing(): PaymentLinkRecord {
    if (record === undefined) throw refusal(new ServiceError('NotFound', 'The payment link does not exist.'));
    return record;
  }
}
