import { ApplicationFailure, allHandlersFinished, condition, continueAsNew, patched, setCurrentDetails, setHandler, sleep, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { closingOf, holdOf, isClosed, type Hold } from '../src/domain/hold';
import { awaitsOutcome, isDue, lastTransaction, paymentEnd, type OrderRecord } from '../src/domain/move';
import { hasEnded, mayCancel, paymentObstacle } from '../src/domain/order';
import { askAgainAfter } from '../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { answering, asking } from './activities';
import { oneAtATime } from './one-at-a-time';
import { describe, inWords } from './order-details';
import { cancelOrder, createOrder, followOrder, processorAnswered, recordChanged, submitPayment, type OrderInput } from './messages';
import { ORDER_STATUS } from './search-attributes';

/**
 * The life of one order, from its creation to its final status, and on while it holds money that was reserved. Whatever changes
 * the order in life passes through here one at a time: payments, captures, voids and cancellation as updates, the processor's
 * answers as signals, its end and that of the capture window as durable timers.
 * The database has the order; this holds only what the next decision needs.
 */
export async function order({ order_id }: OrderInput): Promise<string> {
  let present: OrderRecord | undefined;
  let refused = false;
  let creating = false;
  let toldToAsk = false;
  /** The record knows more than this workflow. */
  let behind = false;
  /** The end of the capture window has been dealt with. */
  let windowClosed = false;
  let windowTimer: Promise<void> | undefined;
  /** A transaction that ended here without the processor's word that it was not paid. */
  let unsettled: string | undefined;
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

  setHandler(followOrder, async (input) =>
    inTurn(async () => {
      // Temporal may have forgotten the order, the record has not: its workflow begins anew where it stands.
      await goOnFromRecord();
      existing();
      became(await answering.followOrder({ ...input, now: Date.now() }));
    }),
  );

  setHandler(processorAnswered, () => {
    toldToAsk = true;
  });
  setHandler(recordChanged, () => {
    behind = true;
  });

  // A creation that came with the start has begun by now, and ends: only one that did not come needs a timer.
  const settled = () => present !== undefined || refused;
  if (creating) await condition(settled);
  else {
    await condition(() => settled() || behind, CREATION_LOST_AFTER_MS, { summary: 'until its creation counts as lost' });
    if (!settled()) await inTurn(goOnFromRecord);
  }
  let asked = 0;
  while (present !== undefined) {
    if (behind) {
      behind = false;
      await inTurn(async () => became((await answering.findOrder({ order_id })) ?? existing()));
    }
    const current: OrderRecord = present;
    if (current.deliveries.length > 0) {
      await answering.startDeliveries({ order_id, deliveries: current.deliveries });
      // A change meanwhile may have added one: only those that were started are off the list.
      present = { ...present, deliveries: present.deliveries.filter((n) => !current.deliveries.includes(n)) };
    } else if (isFinal(ORDER_MOVES, current.status)) {
      const hold = holdOf(current);
      if (hold === undefined || isClosed(hold, Date.now())) break;
      await keep(hold);
    } else if (isDue(current, Date.now())) {
      // Whoever ends an order asks first: news that came before are answered by that.
      toldToAsk = false;
      await inTurn(() => endIfDue(existing()));
      if (isFinal(ORDER_MOVES, existing().status) || !isDue(existing(), Date.now())) continue;
      await waitForNews(askAgainAfter(asked), 'until the processor is asked again whether it has charged');
      asked += 1;
    } else if (awaitsOutcome(current) || isPending(current)) {
      const { transaction_id } = lastTransaction(current)!;
      const wait = isPending(current) ? Math.min(ASK_PENDING_AFTER_MS, paymentEnd(current) - Date.now()) : askAgainAfter(asked);
      if (!toldToAsk) await waitForNews(wait, 'until the processor is asked for the outcome again');
      if (isDue(existing(), Date.now())) continue;
      asked += 1;
      await inTurn(async () => {
        const before = existing();
        // The customer or merchant may have ended it meanwhile, or a further attempt may be under way.
        if (lastTransaction(before)?.transaction_id === transaction_id && (awaitsOutcome(before) || isPending(before))) {
          toldToAsk = false;
          became(await asking.askOutcome({ order: before, transaction_id, now: Date.now() }));
          // Given up because the time was over, not because the processor said so.
          const after = lastTransaction(existing());
          if (after?.status === 'error' && hasEnded(after.end, Date.now())) {
            if (isFinal(ORDER_MOVES, existing().status)) unsettled = transaction_id;
            // A further attempt may follow, and be what the order ends with.
            else if (patched('ask-after-giving-up')) await answering.startReversal({ transaction_id, ask_after_ms: ASK_AFTER_END_MS });
            else unsettled = transaction_id;
          }
        }
      });
      if (workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        await continueAsNew<typeof order>({ order_id });
      }
    } else {
      toldToAsk = false;
      await waitForNews(paymentEnd(current) - Date.now(), inWords(current));
    }
  }
  // News that came while it ended may tell of an approval that came too late; what comes from now on finds it ended (Orders.askNow).
  const last = present && lastTransaction(present);
  if (last !== undefined && last.transaction_id === unsettled && last.status !== 'accepted' && patched('ask-after-the-end')) {
    await answering.startReversal({ transaction_id: unsettled, ask_after_ms: ASK_AFTER_END_MS });
    if (toldToAsk) await answering.startReversal({ transaction_id: unsettled });
  } else if (toldToAsk && (last?.status === 'cancelled' || last?.status === 'expired')) {
    await answering.startReversal({ transaction_id: last.transaction_id });
  }
  await condition(allHandlersFinished);
  return present?.status ?? 'refused';

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
    if (found === null) refused = true;
    else became(found);
  }

  /** At its end the order is over, even when the timer has not fired yet. */
  async function endIfDue(current: OrderRecord): Promise<OrderRecord> {
    if (isFinal(ORDER_MOVES, current.status) || !isDue(current, Date.now())) return current;
    became(await answering.endOrder({ order: current, ended: 'expired', source: 'service', now: Date.now() }));
    return existing();
  }

  /** Money that is reserved: kept for the merchant until its window ends, then captured or released. */
  async function keep(hold: Hold): Promise<void> {
    const now = Date.now();
    const closed = windowClosed;
    windowClosed ||= hasEnded(hold.end, now);
    if (closingOf(hold, now, closed) !== undefined) {
      await inTurn(async () => became(await answering.closeWindow({ order_id, closed, now: Date.now() })));
    } else {
      // One timer for the whole window: what is asked for meanwhile does not start it anew.
      const version = present?.version;
      if (now < hold.end) windowTimer ??= sleep(hold.end - now, { summary: 'until the capture window ends' }).finally(() => (windowTimer = undefined)).catch(() => undefined);
      const timer = windowTimer;
      await condition(() => behind || present?.version !== version || windowTimer !== timer);
    }
  }

  async function waitForNews(milliseconds: number, summary: string): Promise<void> {
    const version = present?.version;
    await condition(() => toldToAsk || behind || present?.version !== version, milliseconds, { summary });
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

const isPending = (current: OrderRecord) => lastTransaction(current)?.status === 'pending';

function canNotCancel(current: OrderRecord): ApplicationFailure {
  const why = isFinal(ORDER_MOVES, current.status) ? '' : ' and the outcome of its payment is awaited';
  return refusal('CanNotCancelTransaction', `The order is ${current.status}${why}.`);
}

/** A refusal: the API turns it back into an error by its type. */
function refusal(type: string, value: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message: value, nonRetryable: true });
}
