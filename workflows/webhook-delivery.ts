import {
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { WEBHOOK_ATTEMPTS_MAX, type DeliveryProgress } from '../src/domain/delivery';
import { asMarkdown } from '../src/domain/shown-text';
import { DELIVERY_MOVES, isFinal, type DeliveryStatus } from '../src/domain/transitions';
import { deliveryWait, pausedDelivery } from '../src/domain/waits';
import { delivering, deliveringLocally } from './activities';
import { ObjectClock, temporalClock } from './clock';
import { clockMoved, recordChanged, type DeliveryInput } from './messages';
import { waitInWords } from './operator-view';
import { ATTENTION } from './search-attributes';
import { Waits } from './wait';

/**
 * Delivers one webhook: up to ten attempts until the receiver answers 2xx, each two minutes after the end of the last
 * (rules 13.6). The record says when the next attempt is due and whether the delivery is paused (rules 13.10): the
 * workflow continues from it, however an earlier run ended. Returns the delivery's final status.
 */
export async function webhookDelivery(id: DeliveryInput): Promise<DeliveryStatus> {
  const clock = new ObjectClock();
  const waits = new Waits(clock);
  let recordIsStale = false;
  // Signals may make the history long.
  const isStale = () => recordIsStale || workflowInfo().continueAsNewSuggested;
  const readAgain = () => {
    recordIsStale = true;
  };

  setHandler(clockMoved, readAgain, { description: 'The sandbox clock of the order was moved.' });
  setHandler(recordChanged, readAgain, {
    description: 'The delivery was paused or resumed, or is to be sent at once.',
  });

  let delivery = await attemptIfDue();
  while (!isFinal(DELIVERY_MOVES, delivery.status)) {
    setCurrentDetails(describeDelivery(delivery));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookDelivery>(id);
    if (delivery.status === 'paused') await waits.untilMet(isStale);
    else {
      const summary = `until attempt ${delivery.attempts + 1} of ${WEBHOOK_ATTEMPTS_MAX}`;
      await waits.until({ at: delivery.next_attempt_at ?? 0, summary }, isStale);
    }
    delivery = await attemptIfDue(delivery);
  }
  if (delivery.status === 'failed') {
    upsertSearchAttributes([{ key: ATTENTION, value: `webhook failed ${WEBHOOK_ATTEMPTS_MAX} times` }]);
  }
  setCurrentDetails(describeDelivery(delivery));
  return delivery.status;

  /**
   * Makes the attempt that the record says is due, if any: inside this workflow task if the receiver is expected to
   * answer at once, else as a task of its own.
   */
  async function attemptIfDue(last?: DeliveryProgress): Promise<DeliveryProgress> {
    recordIsStale = false;
    const input = { ...id, now: temporalClock.now() };
    const made = last?.is_slow === true ? null : await deliveringLocally.attemptDeliveryLocally(input);
    const progress = made ?? (await delivering.attemptDelivery(input));
    clock.moveTo(progress.clock_offset_ms);
    return progress;
  }
}

/** The details in the Web UI. */
function describeDelivery(delivery: DeliveryProgress): string {
  const { status, attempts, failure } = delivery;
  if (status === 'delivered') return `Delivered at attempt ${attempts} of ${WEBHOOK_ATTEMPTS_MAX}.`;
  const failed = `${attempts} of ${WEBHOOK_ATTEMPTS_MAX} attempts failed`;
  const why = failure === undefined ? '' : ` (the last one: ${asMarkdown(failure)})`;
  const wait = deliveryWait(delivery);
  const paused = pausedDelivery(delivery);
  const next = wait === undefined ? paused && `**${paused.text}.**` : waitInWords(wait);
  return `${failed}${why}.${next === undefined ? '' : ` ${next}`}`;
}
