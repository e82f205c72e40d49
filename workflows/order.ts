import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import {
  isAtIssuer,
  shouldExpire,
  isOutcomeOpen,
  lastTransaction,
  orderFacts,
  paymentExpiresAt,
  type OrderRecord,
} from '../src/domain/order-record';
import { nextStep, type Step } from '../src/domain/next-step';
import { isExpired, isEnding, mayCancel, paymentObstacle } from '../src/domain/order';
import { POLLS_BEFORE_ATTENTION, pollAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError, tooLate } from '../src/errors';
import { local, polling } from './activities';
import { oneAtATime } from './one-at-a-time';
import { OUTCOME_OVERDUE, describe, inWords } from './order-details';
import {
  cancelOrder,
  createOrder,
  captureOrVoid,
  processorAnswered,
  recordChanged,
  submitPayment,
  type OrderInput,
} from './messages';
import { ATTENTION, ORDER_STATUS } from './search-attributes';

/**
 * The life of one order, from its creation to its final status, and beyond while it holds reserved money. Changes come one at a
 * time: payments, captures, voids and cancellation as updates, the processor's answers as signals, the ends of the order and of the
 * capture window as durable timers.
 * The database has the order; the workflow holds only what the next decision needs. Returns the final status, or `refused`.
 */
export async function order({ order_id, resumed }: OrderInput): Promise<string> {
  let present: OrderRecord | undefined;
  let refused = false;
  let creating = false;
  let toldToAsk = resumed?.toldToAsk ?? false;
  /** The record is ahead of this workflow. */
  let behind = false;
  /** The timer of the capture window runs. */
  let windowOpen = false;
  /** How often the processor was asked for an open outcome. */
  let asked = resumed?.asked ?? 0;
  /** A transaction that ended here although the processor never said that it was not paid. */
  let unsettled = resumed?.unsettled;
  /** A charge may have been sent without our knowing, by a worker that died. */
  let mayHaveCharged = resumed?.mayHaveCharged ?? false;
  const inTurn = oneAtATime();

  /** Every change goes through here, so that the operator sees the recorded state. */
  const became = (after: OrderRecord) => {
    // The start request already set OrderStatus to `new`; setting it again costs an event.
    if ((present?.status ?? 'new') !== after.status) {
      upsertSearchAttributes([{ key: ORDER_STATUS, value: after.status }]);
    }
    present = after;
    // A customer at the issuer may still pay there after the order has ended here.
    const last = lastTransaction(after);
    if (last?.status === 'pending') unsettled = last.id;
    else if (last?.status === 'error') unsettled = undefined;
    setCurrentDetails(describe(after, workflowInfo().namespace));
  };

  setHandler(createOrder, async (input) => {
    creating = true;
    await inTurn(async () => {
      if (present) return;
      if (refused) throw refusal(tooLate());
      try {
        const created = { ...input, now: Date.now() };
        became(
          input.order.charged_by === 'token' ? await local.createAndCharge(created) : await local.createOrder(created),
        );
      } catch (failure) {
        refused = true;
        throw failure;
      }
    });
  });

  setHandler(submitPayment, async (input) =>
    inTurn(async () => {
      await goOnFromRecord();
      mayHaveCharged = true;
      const current = await endIfDue(existing());
      const obstacle = paymentObstacle({
        ...orderFacts(current),
        expires_at: paymentExpiresAt(current),
        now: Date.now(),
        attempt: input.transaction.attempt,
      });
      if (obstacle !== undefined) throw refusal(new ServiceError('TransactionAlreadyStarted', OBSTACLES[obstacle]));
      became(await local.chargeAttempt({ ...input, order: current, now: Date.now() }));
    }),
  );

  setHandler(cancelOrder, async ({ source, versions }) =>
    inTurn(async () => {
      await goOnFromRecord();
      const current = await endIfDue(existing());
      if (current.status === 'cancelled') return;
      if (!mayCancel(current.status, lastTransaction(current)?.status)) {
        throw canNotCancel(current);
      }
      became(await local.endUnpaidOrder({ order: current, ended: 'cancelled', source, versions, now: Date.now() }));
      // Asking the processor brought a charge to light.
      if (existing().status !== 'cancelled') throw canNotCancel(existing());
    }),
  );

  setHandler(captureOrVoid, async (input) =>
    inTurn(async () => {
      // Temporal may have lost the workflow: continue from the record.
      await goOnFromRecord();
      existing();
      became(await local.startCaptureOrVoid({ ...input, now: Date.now() }));
    }),
  );

  setHandler(processorAnswered, () => {
    toldToAsk = true;
  });
  setHandler(recordChanged, () => {
    behind = true;
  });

  const steps: Record<Exclude<Step, 'leave'>, () => Promise<void>> = {
    deliver: startDeliveries,
    keep: keepReserved,
    end: endUnpaid,
    ask: askForOutcome,
    wait: waitForPayment,
  };

  await untilCreated();
  while (present !== undefined) {
    if (workflowInfo().continueAsNewSuggested) await goOnAsNew();
    if (behind) await readAgain();
    const step = nextStep(present, Date.now());
    if (step === 'leave') break;
    await steps[step]();
  }
  await watchWhatMayStillBePaid();
  await condition(allHandlersFinished);
  return present?.status ?? 'refused';

  /** With Update-with-Start the create handler is running already. If its request was lost, read the record after 15 s. */
  async function untilCreated(): Promise<void> {
    if (resumed) return await inTurn(goOnFromRecord);
    const settled = () => present !== undefined || refused;
    if (creating) return await condition(settled);
    await condition(() => settled() || behind || toldToAsk, CREATION_LOST_AFTER_MS, {
      summary: 'until its creation counts as lost',
    });
    if (!settled()) await inTurn(goOnFromRecord);
  }

  async function readAgain(): Promise<void> {
    behind = false;
    await inTurn(async () => became((await local.findOrder({ order_id })) ?? existing()));
  }

  async function startDeliveries(): Promise<void> {
    const { deliveries } = existing();
    await local.startDeliveries({ order_id, deliveries });
    // Remove only those that were started: a change meanwhile may have added another.
    present = { ...existing(), deliveries: existing().deliveries.filter((n) => !deliveries.includes(n)) };
  }

  async function waitForPayment(): Promise<void> {
    toldToAsk = false;
    await waitForNews(paymentExpiresAt(existing()) - Date.now(), inWords(existing()));
  }

  /** Ends the order unless the processor says that it was paid; without an answer, asks again later. */
  async function endUnpaid(): Promise<void> {
    // endUnpaidOrder asks the processor itself, so earlier signals are handled.
    toldToAsk = false;
    await inTurn(() => endIfDue(existing()));
    if (isFinal(ORDER_MOVES, existing().status) || !shouldExpire(existing(), Date.now())) return;
    if (!(await waitForNews(pollAfter(asked), 'until the processor is asked again whether it has charged'))) {
      asked += 1;
    }
  }

  /** Asks for the outcome of the charge: at once after a signal, otherwise after a pause. */
  async function askForOutcome(): Promise<void> {
    const current = existing();
    const { id: transaction_id } = lastTransaction(current)!;
    const pause = isAtIssuer(current)
      ? Math.min(ASK_PENDING_AFTER_MS, paymentExpiresAt(current) - Date.now())
      : pollAfter(asked);
    // Asking after a signal does not count, so it does not slow down the schedule.
    if (!toldToAsk && !(await waitForNews(pause, 'until the processor is asked for the outcome again'))) asked += 1;
    if (shouldExpire(existing(), Date.now())) return;
    await inTurn(async () => {
      const before = existing();
      // The order may have been ended meanwhile, or another attempt may be under way.
      if (lastTransaction(before)?.id !== transaction_id || !isOutcomeOpen(before)) return;
      toldToAsk = false;
      became(await polling.pollCharge({ order: before, transaction_id, now: Date.now() }));
      const after = lastTransaction(existing());
      // It had already ended in the record, and the answer may have been an approval.
      if (isEnding(after?.status)) toldToAsk = true;
      // Below: given up because the time was over, not because the processor said so.
      if (after?.status !== 'error' || !isExpired(after.expires_at, Date.now())) return;
      // While the order is open another attempt may follow, and `unsettled` tracks only the last one.
      if (!isFinal(ORDER_MOVES, existing().status)) {
        await local.startReversal({ transaction_id, poll_after_ms: ASK_AFTER_END_MS });
      } else {
        unsettled = transaction_id;
      }
    });
    if (asked === POLLS_BEFORE_ATTENTION) upsertSearchAttributes([{ key: ATTENTION, value: OUTCOME_OVERDUE }]);
  }

  /** Continues in a new run when the history is long. */
  async function goOnAsNew(): Promise<void> {
    await condition(allHandlersFinished);
    await continueAsNew<typeof order>({ order_id, resumed: { asked, toldToAsk, unsettled, mayHaveCharged } });
  }

  /** The processor may still approve what ended here; that money is given back. */
  async function watchWhatMayStillBePaid(): Promise<void> {
    const last = present && lastTransaction(present);
    if (present === undefined || last === undefined) return;
    const { id: transaction_id, status } = last;
    const endedOpen = isEnding(present.status) && status === present.status;
    const mayBePaid = (transaction_id === unsettled && status !== 'accepted') || (endedOpen && mayHaveCharged);
    if (mayBePaid) {
      await local.startReversal({ transaction_id, poll_after_ms: ASK_AFTER_END_MS });
      if (toldToAsk) await local.startReversal({ transaction_id });
    } else if (toldToAsk && endedOpen) {
      // A signal received while closing may mean a late approval; later ones are handled by FollowUps.askNow.
      await local.startReversal({ transaction_id });
    }
  }

  function existing(): OrderRecord {
    if (present === undefined) throw refusal(new ServiceError('NotFound', 'The order does not exist.'));
    return present;
  }

  /**
   * Temporal keeps an update in memory until its first task is done. If server and worker die together, only the row and the charge
   * remain.
   */
  async function goOnFromRecord(): Promise<void> {
    if (present !== undefined || refused) return;
    const found = await local.findOrder({ order_id });
    if (found === null) {
      refused = true;
      return;
    }
    mayHaveCharged ||= !resumed;
    became(found);
  }

  /** An order is over at its end, even if the timer has not fired yet. */
  async function endIfDue(current: OrderRecord): Promise<OrderRecord> {
    if (isFinal(ORDER_MOVES, current.status) || !shouldExpire(current, Date.now())) return current;
    became(await local.endUnpaidOrder({ order: current, ended: 'expired', source: 'service', now: Date.now() }));
    return existing();
  }

  /** Keeps reserved money for the merchant until its window ends, then captures or releases it. */
  async function keepReserved(): Promise<void> {
    const authorization = openAuthorization(existing());
    if (authorization === undefined) return;
    const now = Date.now();
    if (closingOf(authorization, now) !== undefined) {
      await inTurn(async () => became(await local.closeCaptureWindow({ order_id, now: Date.now() })));
    } else {
      if (now < authorization.capture_ends_at && !windowOpen) startWindowTimer(authorization.capture_ends_at - now);
      const version = present?.version;
      const wasOpen = windowOpen;
      await condition(
        () => behind || present?.version !== version || windowOpen !== wasOpen || workflowInfo().continueAsNewSuggested,
      );
    }
  }

  /** One timer for the whole window: requests in between do not restart it. */
  function startWindowTimer(milliseconds: number): void {
    windowOpen = true;
    const close = () => {
      windowOpen = false;
    };
    sleep(milliseconds, { summary: 'until the capture window ends' }).then(close, close);
  }

  /** Resolves to `false` when the time passed without news. */
  async function waitForNews(milliseconds: number, summary: string): Promise<boolean> {
    const version = present?.version;
    return await condition(
      () => toldToAsk || behind || present?.version !== version || workflowInfo().continueAsNewSuggested,
      milliseconds,
      { summary },
    );
  }
}

/** A notification normally reports the result of 3-D Secure; this covers a lost one. Milliseconds. */
const ASK_PENDING_AFTER_MS = 5 * 60_000;

/** A customer may still be at the issuer when the order ends, but not longer than this. Milliseconds. */
const ASK_AFTER_END_MS = 15 * 60_000;

/** Longer than the API waits for its first answer. Milliseconds. */
const CREATION_LOST_AFTER_MS = 15_000;

const OBSTACLES = {
  already_started: 'This payment attempt has started already.',
  no_attempt_left: 'The order has no payment attempt left.',
  ended: 'The order cannot be paid any more.',
};

function canNotCancel(current: OrderRecord): ApplicationFailure {
  const why = isFinal(ORDER_MOVES, current.status) ? '' : ' and the outcome of its payment is awaited';
  return refusal(new ServiceError('CanNotCancelTransaction', `The order is ${current.status}${why}.`));
}

/** A refusal as Temporal carries it; the API turns it back into the ServiceError by its type. */
function refusal({ error, value }: ServiceError): ApplicationFailure {
  return ApplicationFailure.create({ type: error, message: value, nonRetryable: true });
}
