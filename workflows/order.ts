import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import { nextStep, type Step } from '../src/domain/next-step';
import { isExpired } from '../src/domain/order';
import { lastTransaction, paymentExpiresAt, shouldExpire } from '../src/domain/order-record';
import { chargeIdempotencyKey, pollAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { local } from './activities';
import type { OrderInput } from './messages';
import { inWords } from './operator-view';
import { setOrderHandlers } from './order-handlers';
import { OrderState } from './order-state';
import { UNTIL_CREATION_IS_LOST } from './wait';

/**
 * The life of one order, from its creation to its final status, and beyond while it holds reserved money. The record is
 * in the database; the workflow decides what is done next and waits. Payments, captures, voids and cancellation come as
 * updates, news of the processor as signals, the ends of the time for paying and of the capture window as timers.
 * Returns the final status, or `refused` when there is no order.
 */
export async function order({ order_id, resumed }: OrderInput): Promise<string> {
  const state = new OrderState(order_id, resumed);
  setOrderHandlers(state);
  if (resumed === undefined) await waitForCreation(state);
  else await state.inTurn(() => state.findRecord());

  while (state.record !== undefined) {
    if (workflowInfo().continueAsNewSuggested) await continueInNewRun(state);
    if (state.recordIsStale) await state.refreshRecord();
    if (state.shouldVerifyManualOutcome) await verifySettlement(state);
    const step = nextStep(state.record, state.clock.now());
    if (step === 'finish') break;
    await STEPS[step](state);
  }

  if (state.record !== undefined) await state.lateApproval.watchEnded(state.record, state.pollRequested);
  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

const STEPS: Record<Exclude<Step, 'finish'>, (state: OrderState) => Promise<void>> = {
  startDeliveries,
  holdAuthorization,
  expire,
  pollOutcome,
  awaitPayment,
};

/** The request usually comes with the start of the workflow. When it was lost, the order is what was recorded of it. */
async function waitForCreation(state: OrderState): Promise<void> {
  const isDecided = () => state.record !== undefined || state.refused;
  if (state.creationRequested) return await condition(isDecided);
  const isRecorded = () => state.recordIsStale || state.pollRequested;
  await state.waits.pause(UNTIL_CREATION_IS_LOST, () => isDecided() || isRecorded());
  if (!isDecided()) await state.inTurn(() => state.findRecord());
}

/** The history is long: goes on in a new run. */
async function continueInNewRun(state: OrderState): Promise<void> {
  await condition(allHandlersFinished);
  await continueAsNew<typeof order>(state.toResume());
}

async function startDeliveries(state: OrderState): Promise<void> {
  const { project_id, deliveries } = state.requireRecord();
  await local.startDeliveries({ order_id: state.order_id, project_id, deliveries });
  // Another change may have added a delivery meanwhile.
  const record = state.requireRecord();
  state.record = { ...record, deliveries: record.deliveries.filter((n) => !deliveries.includes(n)) };
}

async function awaitPayment(state: OrderState): Promise<void> {
  // Nothing was charged, so there is nothing to ask for.
  state.pollRequested = false;
  const record = state.requireRecord();
  await state.waits.until(
    { at: paymentExpiresAt(record), summary: inWords(record) },
    () => state.pollRequested || state.hasChangedSince(record.version),
  );
}

/**
 * Ends the order unless the processor says that it was paid. Without an answer the order waits, and the processor is
 * asked again.
 */
async function expire(state: OrderState): Promise<void> {
  // The activity asks the processor itself.
  state.pollRequested = false;
  await state.inTurn(() => state.expireIfDue());
  const record = state.requireRecord();
  if (isFinal(ORDER_MOVES, record.status) || !shouldExpire(record, state.clock.now())) return;
  await state.pauseUnlessChanged(pollAfter(state.polls), 'until the processor is asked again whether it has charged');
}

/** Asks the processor for the outcome of a charge: at once when that was requested, otherwise after a pause. */
async function pollOutcome(state: OrderState): Promise<void> {
  const record = state.requireRecord();
  const { id: transaction_id } = lastTransaction(record)!;
  if (!state.pollRequested) {
    // The order of a customer in 3-D Secure expires meanwhile when its clock is moved.
    await state.pauseUnlessChanged(state.pause(), 'until the processor is asked for the outcome again', () =>
      shouldExpire(state.requireRecord(), state.clock.now()),
    );
  }
  if (shouldExpire(state.requireRecord(), state.clock.now())) return;
  await state.inTurn(() => state.pollCharge(transaction_id));
}

/** Holds reserved money for the merchant until its capture window ends, then captures or releases it. */
async function holdAuthorization(state: OrderState): Promise<void> {
  const record = state.requireRecord();
  const authorization = openAuthorization(record);
  if (authorization === undefined) return;
  const now = state.clock.now();
  if (closingOf(authorization, now) !== undefined) {
    await state.inTurn(async () => {
      const { order_id, clock } = state;
      state.applyRecord(await local.closeCaptureWindow({ order_id, now: clock.now() }));
    });
    return;
  }
  // Captures and voids, their outcomes, or news about a payment that was settled by hand.
  const hasNews = () => state.hasChangedSince(record.version) || state.shouldVerifyManualOutcome;
  if (isExpired(authorization.capture_ends_at, now)) return await condition(hasNews);
  await state.waits.until({ at: authorization.capture_ends_at, summary: 'until the capture window ends' }, hasNews);
}

/**
 * After a notification about a payment that was approved by hand: compares the outcomes, and shows a contradiction to
 * the operator (rules 10.14).
 */
async function verifySettlement(state: OrderState): Promise<void> {
  state.pollRequested = false;
  await state.inTurn(async () => {
    const key = chargeIdempotencyKey(lastTransaction(state.requireRecord())!.id);
    const { order_id, clock } = state;
    state.applyRecord(await local.verifySettlement({ order_id, key, now: clock.now() }));
  });
}
