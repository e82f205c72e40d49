import { allHandlersFinished, condition } from '@temporalio/workflow';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import { nextStep, type Step } from '../src/domain/next-step';
import { isEnding, isExpired } from '../src/domain/order';
import { latestAttempt, paymentExpiresAt, shouldExpire, withoutLatePoll } from '../src/domain/order-snapshot';
import { pollAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { localActivities } from './activities';
import type { OrderInput } from './messages';
import { startDueDeliveries } from './order-deliveries';
import { inWords } from './operator-view';
import { setOrderHandlers } from './order-handlers';
import { OrderState } from './order-state';

/**
 * The life of one order, from its creation to its final status, and beyond while it holds reserved money. The record is
 * in the database; the workflow decides the next step and waits. Payments, captures, voids and cancellation are
 * updates; notifications of the processor are signals; expiry and the end of the capture window are timers. Returns the
 * final status, or `refused` when there is no order.
 */
export async function order({ order_id, resumed }: OrderInput): Promise<string> {
  const state = new OrderState(order_id, resumed);
  const { outcome } = state;
  setOrderHandlers(state);
  await state.waitForCreation();

  while (state.record !== undefined) {
    if (state.needsNewRun) {
      await state.continueInNewRun<OrderInput>(() => ({
        order_id,
        resumed: { polls: outcome.polls, poll_requested: outcome.pollRequested },
      }));
    }
    if (state.recordIsStale) await state.refreshRecord();
    if (outcome.shouldVerify) await outcome.verify();
    const step = nextStep(state.record, state.clock.now());
    if (step === 'finish') break;
    await STEPS[step](state);
  }

  if (outcome.pollRequested) await pollEndedAttempt(state);
  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

const STEPS: Record<Exclude<Step, 'finish'>, (state: OrderState) => Promise<void>> = {
  startDeliveries: startDueDeliveries,
  startReversals,
  holdAuthorization,
  expire,
  pollOutcome,
  awaitPayment,
};

/**
 * The processor may still approve a charge that has ended here. The reversal's workflow polls it later, or now if there
 * is a sign of an approval, and returns the money (rules 10.11, 10.12).
 */
async function startReversals(state: OrderState): Promise<void> {
  const { outcome } = state;
  const { transactions } = state.requireRecord();
  for (const { id: transaction_id, late_poll_at } of transactions) {
    if (late_poll_at === undefined) continue;
    const now = state.clock.now();
    const poll_after_ms = outcome.pollRequested ? undefined : Math.max(0, late_poll_at - now);
    await localActivities.startReversal({ transaction_id, now, poll_after_ms });
    // Read again: another change may have been applied meanwhile.
    state.applyRecord(withoutLatePoll(state.requireRecord(), transaction_id));
  }
}

/**
 * A signal that arrived before or while the last attempt ended may be about its approval, also when the processor had
 * declined it (rules 10.18). Later signals reach the reversal's workflow.
 */
async function pollEndedAttempt({ record, clock }: OrderState): Promise<void> {
  const last = record && latestAttempt(record);
  if (last === undefined) return;
  const now = clock.now();
  if (isEnding(last.status)) await localActivities.startReversal({ transaction_id: last.id, now });
  if (last.status === 'error') await localActivities.pollDeclined({ order: record!, transaction_id: last.id, now });
}

async function awaitPayment(state: OrderState): Promise<void> {
  const { outcome, waits } = state;
  const record = state.requireRecord();
  if (outcome.pollRequested) {
    // The record may have a charge of which the workflow knows nothing, as its request was lost.
    const { version } = await state.readLatest();
    if (version !== record.version) return;
    outcome.pollRequested = false;
    await pollEndedAttempt(state);
  }
  await waits.until(
    { at: paymentExpiresAt(record), summary: inWords(record) },
    () => outcome.pollRequested || state.hasChangedSince(record.version),
  );
}

/**
 * Expires the order unless the processor says that it was paid. Without an answer the order stays open and the
 * processor is polled again.
 */
async function expire(state: OrderState): Promise<void> {
  const { outcome } = state;
  const record = await state.inTurn(() => state.expireIfDue());
  if (isFinal(ORDER_MOVES, record.status) || !shouldExpire(record, state.clock.now())) return;
  await outcome.pause('until the charge is polled again', pollAfter(outcome.polls));
  // The activity polls the processor itself.
  outcome.pollRequested = false;
}

/** Polls the outcome of a charge: at once on request, otherwise after a pause. */
async function pollOutcome(state: OrderState): Promise<void> {
  const { outcome } = state;
  if (!outcome.pollRequested) await outcome.pause('until the outcome is polled again');
  // The order of a customer in 3-D Secure may have expired meanwhile.
  if (!shouldExpire(state.requireRecord(), state.clock.now())) await outcome.poll();
}

/** Holds reserved money for the merchant until its capture window ends, then captures or releases it. */
async function holdAuthorization(state: OrderState): Promise<void> {
  const { order_id, outcome, clock } = state;
  const record = state.requireRecord();
  const authorization = openAuthorization(record);
  if (authorization === undefined) return;
  const now = clock.now();
  if (closingOf(authorization, now) !== undefined) {
    return await state.change(() => localActivities.closeCaptureWindow({ order_id, now: clock.now() }));
  }
  // A capture or void, the outcome of one, or a notification about a payment whose outcome was set by hand.
  const hasNews = () => state.hasChangedSince(record.version) || outcome.shouldVerify;
  if (isExpired(authorization.capture_ends_at, now)) return await condition(hasNews);
  await state.waits.until({ at: authorization.capture_ends_at, summary: 'until the capture window ends' }, hasNews);
}
