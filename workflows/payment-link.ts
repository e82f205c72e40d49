import { allHandlersFinished, condition, continueAsNew, setHandler } from '@temporalio/workflow';
import { isExpired } from '../src/domain/order';
import { isLinkDue, linkObstacle, linkRefusal } from '../src/domain/payment-link';
import { tooLate } from '../src/errors';
import { local, paying } from './activities';
import {
  clockMoved,
  createPaymentLink,
  endPaymentLink,
  payThroughLink,
  recordChanged,
  type CreatePaymentLinkInput,
  type PaymentLinkInput,
  type PayThroughLinkInput,
} from './messages';
import { requireSame, setUpdateHandler } from './inputs';
import { PaymentLinkState } from './payment-link-state';
import { refusal } from './refusal';
import { UNTIL_CREATION_IS_LOST } from './wait';

/**
 * The life of one payment link, from its creation to its final status (rules 19). Attempts are updates, one at a time:
 * each makes an order, whose own workflow charges it. Later outcomes of that order arrive as signals; the end of the
 * link is a durable timer. The database has the link; the workflow holds only what the next decision needs. Returns the
 * final status, or `refused`.
 */
export async function paymentLink({ payment_link_id, continued }: PaymentLinkInput): Promise<string> {
  const state = new PaymentLinkState(payment_link_id, continued ?? false);
  setHandlers(state);
  await waitForCreation(state);

  while (!state.isFinished) {
    if (state.needsNewRun) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof paymentLink>({ payment_link_id, continued: true });
    }
    if (state.recordIsStale) await state.readRecord();
    else if (isLinkDue(state.requireRecord(), state.clock.now())) {
      await state.apply(() => local.expirePaymentLink({ payment_link_id, now: state.clock.now() }));
    } else await waitForChange(state);
  }

  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

function setHandlers(state: PaymentLinkState): void {
  setUpdateHandler(createPaymentLink, (input) => create(state, input), {
    refuse: ({ payment_link }) => requireSame('payment_link.id', payment_link.id, state.payment_link_id),
  });
  setUpdateHandler(payThroughLink, (input) => pay(state, input), {
    refuse: ({ order }) => state.refuseWhileBusy(order.id),
  });
  setUpdateHandler(endPaymentLink, async ({ versions }) => {
    await state.readRecord();
    const { payment_link_id, clock } = state;
    await state.apply(() => local.endPaymentLink({ payment_link_id, versions, now: clock.now() }));
  });
  const readAgain = () => {
    state.recordIsStale = true;
  };
  setHandler(recordChanged, readAgain);
  setHandler(clockMoved, readAgain);
}

async function create(state: PaymentLinkState, input: CreatePaymentLinkInput): Promise<void> {
  state.creationRequested = true;
  if (state.record !== undefined) return;
  if (state.refused) throw refusal(tooLate());
  try {
    await state.apply(() => local.createPaymentLink({ ...input, now: state.clock.now() }));
  } catch (failure) {
    state.refused = true;
    throw failure;
  }
}

/** One attempt to pay: makes its order, and charges it. */
async function pay(state: PaymentLinkState, input: PayThroughLinkInput): Promise<void> {
  const { id: order_id } = input.order;
  // Validators of updates that arrive together may run before the first handler. The same form sent again waits for the
  // attempt that it began.
  while (state.attemptUnderWay !== undefined) {
    state.refuseWhileBusy(order_id);
    await condition(() => state.attemptUnderWay === undefined);
  }
  state.attemptUnderWay = order_id;
  try {
    await state.readRecord();
    const { payment_link_id, clock } = state;
    const link = state.requireRecord();
    const obstacle = linkObstacle(link, clock.now());
    // The order of a repeat exists, and is answered whatever has become of the link.
    if (obstacle !== undefined && !(await local.linkHasOrder({ payment_link_id, order_id }))) {
      throw refusal(linkRefusal(obstacle));
    }
    state.attemptsInRun += 1;
    const payment_link = { id: payment_link_id, expires_at: link.expires_at, clock_offset_ms: clock.offset_ms };
    await state.apply(() => paying.payThroughLink({ ...input, payment_link }));
  } finally {
    state.attemptUnderWay = undefined;
  }
}

/**
 * With Update-with-Start the create handler is running already. A link whose request was lost is read from the record.
 */
async function waitForCreation(state: PaymentLinkState): Promise<void> {
  const isDecided = () => state.record !== undefined || state.refused;
  if (state.creationRequested) return await condition(isDecided);
  if (!state.continued) {
    const isRecorded = () => state.recordIsStale;
    await state.waits.pause(UNTIL_CREATION_IS_LOST, () => isDecided() || isRecorded() || state.creationRequested);
  }
  if (state.creationRequested) await condition(isDecided);
  else if (!isDecided()) await state.readRecord();
}

/** Waits for a change of the record or the end of the link; a payment in progress is waited for beyond that end. */
async function waitForChange(state: PaymentLinkState): Promise<void> {
  const { version, expires_at } = state.requireRecord();
  const hasChanged = () => state.recordIsStale || state.record?.version !== version || state.needsNewRun;
  if (isExpired(expires_at, state.clock.now())) return await condition(hasChanged);
  await state.waits.until({ at: expires_at, summary: 'until the payment link expires' }, hasChanged);
}
