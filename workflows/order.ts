import { ApplicationFailure, allHandlersFinished, condition, continueAsNew, patched, setCurrentDetails, setHandler, sleep, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { closingOf, openAuthorization } from '../src/domain/authorization';
import { isDue, lastTransaction, paymentEnd, type OrderRecord } from '../src/domain/move';
import { isAtIssuer, isOutcomeOpen, nextStep, type Step } from '../src/domain/next-step';
import { hasEnded, mayCancel, paymentObstacle } from '../src/domain/order';
import { ASKED_TOO_OFTEN, askAgainAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { answering, asking } from './activities';
import { oneAtATime } from './one-at-a-time';
import { UNTOLD, describe, inWords } from './order-details';
import { cancelOrder, createOrder, captureOrVoid, processorAnswered, recordChanged, submitPayment, type OrderInput } from './messages';
import { ATTENTION, ORDER_STATUS } from './search-attributes';

/**
 * The life of one order, from its creation to its final status, and on while it holds money that was reserved. Whatever changes
 * the order in life passes through here one at a time: payments, captures, voids and cancellation as updates, the processor's
 * answers as signals, its end and that of the capture window as durable timers.
 * The database has the order; this holds only what the next decision needs.
 */
export async function order({ order_id, resumed }: OrderInput): Promise<string> {
  let present: OrderRecord | undefined;
  let refused = false;
  let creating = false;
  let toldToAsk = resumed?.toldToAsk ?? false;
  /** The record knows more than this workflow. */
  let behind = false;
  let windowTimer: Promise<void> | undefined;
  /** Times the processor was asked for an outcome that is open. */
  let asked = resumed?.asked ?? 0;
  /** A transaction that ended here without the processor's word that it was not paid. */
  let unsettled = resumed?.unsettled;
  /** A charge may have gone out of which nobody has told: that of an attempt whose worker was killed. */
  let mayHaveCharged = resumed?.mayHaveCharged ?? false;
  const inTurn = oneAtATime();

  /** Every change ends here: what the operator sees follows the record. */
  const became = (after: OrderRecord) => {
    // It starts with `new`, which costs no event.
    if ((present?.status ?? 'new') !== after.status) upsertSearchAttributes([{ key: ORDER_STATUS, value: after.status }]);
    present = after;
    // Whoever is at the issuer may pay there after the order has ended here.
    const last = lastTransaction(after);
    if (last?.status === 'pending') unsettled = last.transaction_id;
    else if (last?.status === 'error') unsettled = undefined;
    setCurrentDetails(describe(after, workflowInfo().namespace));
  };

  setHandler(createOrder, async (input) => {
    creating = true;
    await inTurn(async () => {
      if (present) return;
      if (refused) throw refusal('ServiceUnavailable', 'The request came too late to be carried out; nothing was stored or charged.');
      try {
        const created = { ...input, now: Date.now() };
        became(input.charge ? await answering.createAndCharge(created) : await answering.createOrder(created));
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
        ...facts(current),
        order_end: paymentEnd(current),
        now: Date.now(),
        attempt: input.transaction.attempt,
      });
      if (obstacle !== undefined) throw refusal('TransactionAlreadyStarted', OBSTACLES[obstacle]);
      became(await answering.charge({ ...input, order: current, now: Date.now() }));
    }),
  );

  setHandler(cancelOrder, async ({ source, versions }) =>
    inTurn(async () => {
      await goOnFromRecord();
      const current = await endIfDue(existing());
      if (current.status === 'cancelled') return;
      if (!mayCancel(current.transactions.map((one) => one.status), current.status)) {
        throw canNotCancel(current);
      }
      became(await answering.endOrder({ order: current, ended: 'cancelled', source, versions, now: Date.now() }));
      // A charge came to light that nobody had heard of.
      if (existing().status !== 'cancelled') throw canNotCancel(existing());
    }),
  );

  setHandler(captureOrVoid, async (input) =>
    inTurn(async () => {
      // Temporal may have forgotten the order, the record has not: its workflow begins anew where it stands.
      await goOnFromRecord();
      existing();
      became(await answering.captureOrVoid({ ...input, now: Date.now() }));
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

  /** A creation that came with the start has begun by now, and ends: only one that did not come needs a timer. */
  async function untilCreated(): Promise<void> {
    if (resumed) return await inTurn(goOnFromRecord);
    const settled = () => present !== undefined || refused;
    if (creating) return await condition(settled);
    await condition(() => settled() || behind, CREATION_LOST_AFTER_MS, { summary: 'until its creation counts as lost' });
    if (!settled()) await inTurn(goOnFromRecord);
  }

  async function readAgain(): Promise<void> {
    behind = false;
    await inTurn(async () => became((await answering.findOrder({ order_id })) ?? existing()));
  }

  async function startDeliveries(): Promise<void> {
    const { deliveries } = existing();
    await answering.startDeliveries({ order_id, deliveries });
    // A change meanwhile may have added one: only those that were started are off the list.
    present = { ...existing(), deliveries: existing().deliveries.filter((n) => !deliveries.includes(n)) };
  }

  async function waitForPayment(): Promise<void> {
    toldToAsk = false;
    await waitForNews(paymentEnd(existing()) - Date.now(), inWords(existing()));
  }

  /** Cancelled or expired, unless the processor says that it was paid; while it says nothing, it is asked again. */
  async function endUnpaid(): Promise<void> {
    // Whoever ends an order asks first: news that came before are answered by that.
    toldToAsk = false;
    await inTurn(() => endIfDue(existing()));
    if (isFinal(ORDER_MOVES, existing().status) || !isDue(existing(), Date.now())) return;
    if (!(await waitForNews(askAgainAfter(asked), 'until the processor is asked again whether it has charged'))) asked += 1;
  }

  /** Asks what became of the charge: at once when there are news, else after a while. */
  async function askForOutcome(): Promise<void> {
    const current = existing();
    const { transaction_id } = lastTransaction(current)!;
    const pause = isAtIssuer(current) ? Math.min(ASK_PENDING_AFTER_MS, paymentEnd(current) - Date.now()) : askAgainAfter(asked);
    // News do not slow down the schedule, however many there are.
    if (!toldToAsk && !(await waitForNews(pause, 'until the processor is asked for the outcome again'))) asked += 1;
    if (isDue(existing(), Date.now())) return;
    await inTurn(async () => {
      const before = existing();
      // The customer or merchant may have ended it meanwhile, or a further attempt may be under way.
      if (lastTransaction(before)?.transaction_id !== transaction_id || !isOutcomeOpen(before)) return;
      toldToAsk = false;
      became(await asking.askOutcome({ order: before, transaction_id, now: Date.now() }));
      const after = lastTransaction(existing());
      // It had ended in the record already: the answer may have been an approval.
      if (after?.status === 'cancelled' || after?.status === 'expired') toldToAsk = true;
      // Given up because the time was over, not because the processor said so.
      if (after?.status !== 'error' || !hasEnded(after.end, Date.now())) return;
      // While the order goes on, a further attempt may follow, and be what it ends with.
      if (!isFinal(ORDER_MOVES, existing().status) && patched('ask-after-giving-up')) await answering.startReversal({ transaction_id, ask_after_ms: ASK_AFTER_END_MS });
      else unsettled = transaction_id;
    });
    if (asked === ASKED_TOO_OFTEN) upsertSearchAttributes([{ key: ATTENTION, value: UNTOLD }]);
  }

  /** A history that is long is closed, and the order goes on in a new one. */
  async function goOnAsNew(): Promise<void> {
    await condition(allHandlersFinished);
    await continueAsNew<typeof order>({ order_id, resumed: { asked, toldToAsk, unsettled, mayHaveCharged } });
  }

  /** What ended here may be approved there all the same: what the processor took then is given back. */
  async function watchWhatMayStillBePaid(): Promise<void> {
    const last = present && lastTransaction(present);
    if (present === undefined || last === undefined) return;
    const { transaction_id, status } = last;
    const endedOpen = (present.status === 'cancelled' || present.status === 'expired') && status === present.status;
    const mayBePaid = (transaction_id === unsettled && status !== 'accepted') || (endedOpen && mayHaveCharged);
    if (mayBePaid && patched('ask-after-the-end')) {
      await answering.startReversal({ transaction_id, ask_after_ms: ASK_AFTER_END_MS });
      if (toldToAsk) await answering.startReversal({ transaction_id });
    } else if (toldToAsk && endedOpen) {
      // News that came while it ended; what comes from now on finds it ended (Orders.askNow).
      await answering.startReversal({ transaction_id });
    }
  }

  function existing(): OrderRecord {
    if (present === undefined) throw refusal('NotFound', 'The order does not exist.');
    return present;
  }

  /**
   * The request that was to create the order is held in memory by a server, until the first task is done: killed together with
   * the worker, nothing but the record knows of the order, and nothing but the processor of its charge.
   */
  async function goOnFromRecord(): Promise<void> {
    if (present !== undefined || refused) return;
    const found = await answering.findOrder({ order_id });
    if (found === null) {
      refused = true;
      return;
    }
    mayHaveCharged ||= !resumed;
    became(found);
  }

  /** At its end the order is over, even when the timer has not fired yet. */
  async function endIfDue(current: OrderRecord): Promise<OrderRecord> {
    if (isFinal(ORDER_MOVES, current.status) || !isDue(current, Date.now())) return current;
    became(await answering.endOrder({ order: current, ended: 'expired', source: 'service', now: Date.now() }));
    return existing();
  }

  /** Money that is reserved is kept for the merchant until its window ends, then captured or released. */
  async function keepReserved(): Promise<void> {
    const authorization = openAuthorization(existing());
    if (authorization === undefined) return;
    const now = Date.now();
    if (closingOf(authorization, now) !== undefined) {
      await inTurn(async () => became(await answering.closeWindow({ order_id, now: Date.now() })));
    } else {
      // One timer for the whole window: what is asked for meanwhile does not start it anew.
      const version = present?.version;
      if (now < authorization.end) windowTimer ??= sleep(authorization.end - now, { summary: 'until the capture window ends' }).finally(() => (windowTimer = undefined)).catch(() => undefined);
      const timer = windowTimer;
      await condition(() => behind || present?.version !== version || windowTimer !== timer || workflowInfo().continueAsNewSuggested);
    }
  }

  /** Answers `false` when the time is over and there were none. */
  async function waitForNews(milliseconds: number, summary: string): Promise<boolean> {
    const version = present?.version;
    return await condition(() => toldToAsk || behind || present?.version !== version || workflowInfo().continueAsNewSuggested, milliseconds, { summary });
  }
}

/** A customer at the issuer is told of by a notification; this is for the case that it is lost. Milliseconds. */
const ASK_PENDING_AFTER_MS = 5 * 60_000;

/** A customer may still be at the issuer when the order has ended; this long after it nobody is. Milliseconds. */
const ASK_AFTER_END_MS = 15 * 60_000;

/** Longer than an API waits for its first answer; in milliseconds. */
const CREATION_LOST_AFTER_MS = 15_000;

const OBSTACLES = {
  already_started: 'This payment attempt has started already.',
  no_attempt_left: 'The order has no payment attempt left.',
  ended: 'The order cannot be paid any more.',
};

function facts(current: OrderRecord) {
  return {
    transactions: current.transactions.map((one) => one.status),
    was_accepted: current.status === 'completed',
    attempts_max: current.attempts_max,
    ...(current.ended === undefined ? {} : { ended: current.ended }),
  };
}

function canNotCancel(current: OrderRecord): ApplicationFailure {
  const why = isFinal(ORDER_MOVES, current.status) ? '' : ' and the outcome of its payment is awaited';
  return refusal('CanNotCancelTransaction', `The order is ${current.status}${why}.`);
}

/** A refusal: the API turns it back into an error by its type. */
function refusal(type: string, value: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message: value, nonRetryable: true });
}
