import { allHandlersFinished, condition } from '@temporalio/workflow';
import { isExpired } from '../src/domain/order';
import { isLinkDue, linkObstacle, linkRefusal, type PaymentLinkSnapshot } from '../src/domain/payment-link';
import { PAYMENT_LINK_MOVES, isFinal } from '../src/domain/transitions';
import { localActivities, paying } from './activities';
import {
  createPaymentLinkUpdate,
  endPaymentLinkUpdate,
  payThroughLinkUpdate,
  type PaymentLinkInput,
  type PayThroughLinkInput,
} from './messages';
import { requireSame, setUpdateHandler } from './inputs';
import { RecordedObject } from './object/recorded-object';
import { showPaymentLink } from './payment-link-details';
import { refusal } from './refusal';

/** The link continues in a new run after this many attempts, before its history grows long. */
const ATTEMPTS_PER_RUN = 10;

/**
 * The life of one payment link, from its creation to its final status (rules 19). Attempts are updates, one at a time:
 * each makes an order, whose own workflow charges it. Later outcomes of that order arrive as signals; the end of the
 * link is a timer. The link is in the database; the workflow holds only the fields that its next decision needs.
 * Returns the final status, or `refused`.
 */
export async function paymentLink({ payment_link_id, continued }: PaymentLinkInput): Promise<string> {
  const state = new PaymentLinkState(payment_link_id, continued ?? false);
  setHandlers(state);
  await state.waitForCreation();

  while (state.record !== undefined && !isFinal(PAYMENT_LINK_MOVES, state.record.status)) {
    if (state.needsNewRun) {
      await state.continueInNewRun<PaymentLinkInput>(() => ({ payment_link_id, continued: true }));
    }
    if (state.recordIsStale) await state.refreshRecord();
    else if (isLinkDue(state.record, state.clock.now())) {
      await state.change(() => localActivities.expirePaymentLink({ payment_link_id, now: state.clock.now() }));
    } else await waitForChange(state);
  }

  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

/** A payment link, and the attempt that is under way. */
class PaymentLinkState extends RecordedObject<PaymentLinkSnapshot> {
  /** The order of the attempt that is under way. */
  attemptUnderWay: string | undefined;
  attemptsInRun = 0;

  constructor(
    readonly payment_link_id: string,
    must_exist: boolean,
  ) {
    super({
      name: 'payment link',
      find: (exists) => localActivities.readPaymentLink({ payment_link_id, must_exist: exists }),
      show: showPaymentLink,
      must_exist,
    });
  }

  /** While a payment is in progress the record may change without this workflow. */
  override async readRecord(): Promise<void> {
    this.recordIsStale ||= this.record?.status === 'processing';
    await super.readRecord();
  }

  override get needsNewRun(): boolean {
    return super.needsNewRun || this.attemptsInRun >= ATTEMPTS_PER_RUN;
  }

  /** Throws TransactionAlreadyStarted while the attempt of another order is under way. */
  refuseWhileBusy(order_id: string): void {
    if (this.attemptUnderWay !== undefined && this.attemptUnderWay !== order_id) {
      throw refusal(linkRefusal('in_progress'));
    }
  }
}

function setHandlers(state: PaymentLinkState): void {
  const { payment_link_id, clock } = state;
  state.setSignalHandlers();
  setUpdateHandler(
    createPaymentLinkUpdate,
    (input) => state.create(() => localActivities.writePaymentLink({ ...input, now: clock.now() })),
    {
      refuse: ({ payment_link }) => requireSame('payment_link.id', payment_link.id, payment_link_id),
      description: 'Writes the payment link.',
    },
  );
  setUpdateHandler(payThroughLinkUpdate, (input) => pay(state, input), {
    refuse: ({ order }) => state.refuseWhileBusy(order.id),
    description: 'Makes the order of one payment attempt and charges it.',
  });
  setUpdateHandler(
    endPaymentLinkUpdate,
    async ({ request }) => {
      await state.change(async () => {
        await state.readRecord();
        state.requireRecord();
        return await localActivities.writePaymentLinkEnd({
          payment_link_id,
          versions: request.versions,
          now: clock.now(),
        });
      });
    },
    { description: 'Ends the link for its merchant, unless a payment is in progress or it is paid.' },
  );
}

/** One attempt to pay: makes its order, and charges it. */
async function pay(state: PaymentLinkState, input: PayThroughLinkInput): Promise<void> {
  const { id: order_id } = input.order;
  // Validators of updates that arrive together may run before the first handler. A repeated form submission waits for
  // the attempt that the first one began.
  while (state.attemptUnderWay !== undefined) {
    state.refuseWhileBusy(order_id);
    await condition(() => state.attemptUnderWay === undefined);
  }
  state.attemptUnderWay = order_id;
  try {
    const payment_link = await state.inTurn(() => requirePayable(state, order_id));
    state.attemptsInRun += 1;
    // Not in turn, so that a request to end the link is refused at once meanwhile. The SQL that inserts the order
    // decides between the two.
    state.applyRecord(await paying.payThroughLink({ ...input, payment_link }));
  } finally {
    state.attemptUnderWay = undefined;
  }
}

/** The link for the order of an attempt. Throws TransactionAlreadyStarted when the link takes no attempt. */
async function requirePayable(state: PaymentLinkState, order_id: string) {
  await state.readRecord();
  const { payment_link_id, clock } = state;
  const link = state.requireRecord();
  const obstacle = linkObstacle(link, clock.now());
  // A repeat, whose order exists, is answered whatever the link's status.
  if (obstacle !== undefined && !(await localActivities.linkHasOrder({ payment_link_id, order_id }))) {
    throw refusal(linkRefusal(obstacle));
  }
  return { id: payment_link_id, expires_at: link.expires_at, clock_offset_ms: clock.offset_ms };
}

/** Waits for a change of the record or the end of the link; with a payment in progress, also beyond that end. */
async function waitForChange(state: PaymentLinkState): Promise<void> {
  const { version, expires_at } = state.requireRecord();
  const hasChanged = () => state.hasChangedSince(version);
  if (isExpired(expires_at, state.clock.now())) return await condition(hasChanged);
  await state.waits.until({ at: expires_at, summary: 'until the payment link expires' }, hasChanged);
}
