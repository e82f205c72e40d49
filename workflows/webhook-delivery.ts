import { setCurrentDetails } from '@temporalio/workflow';
import { WEBHOOK_ATTEMPTS_MAX, type DeliveryKey, type DeliveryProgress } from '../src/domain/delivery';
import { asMarkdown } from '../src/domain/shown-text';
import { DELIVERY_MOVES, isFinal, type DeliveryStatus } from '../src/domain/transitions';
import { deliveryWait, pausedDelivery } from '../src/domain/waits';
import { delivering, deliveringLocally } from './activities';
import { temporalClock } from './object/clock';
import { RecordedObject } from './object/recorded-object';
import { upsertAttention, waitInWords } from './operator-view';

/**
 * Delivers one webhook: up to ten attempts until the receiver answers 2xx, each two minutes after the end of the last
 * (rules 13.6). The record holds the time of the next attempt and whether the delivery is paused (rules 13.10); a lost
 * workflow continues from it. Returns the delivery's final status.
 */
export async function webhookDelivery(id: DeliveryKey): Promise<DeliveryStatus> {
  const delivery: RecordedObject<DeliveryProgress> = new RecordedObject({
    name: 'webhook',
    find: () => attemptIfDue(id, delivery.record?.is_slow === true),
    show: (progress: DeliveryProgress) => setCurrentDetails(describeDelivery(progress)),
  });
  delivery.setSignalHandlers();
  const hasNews = () => delivery.hasNews;

  for (;;) {
    const { status, attempts, next_attempt_at = 0 } = await delivery.readLatest();
    if (status === 'failed') upsertAttention(`webhook failed ${WEBHOOK_ATTEMPTS_MAX} times`);
    if (isFinal(DELIVERY_MOVES, status)) return status;
    if (delivery.needsNewRun) await delivery.continueInNewRun(() => id);
    if (status === 'paused') await delivery.waits.untilMet(hasNews);
    else {
      const summary = `until attempt ${attempts + 1} of ${WEBHOOK_ATTEMPTS_MAX}`;
      await delivery.waits.until({ at: next_attempt_at, summary }, hasNews);
    }
  }
}

/**
 * Makes the attempt that is due by the record, if any: inside this workflow task if the receiver is expected to answer
 * at once, otherwise as a separate task. Returns the delivery's progress.
 */
async function attemptIfDue(id: DeliveryKey, is_slow: boolean): Promise<DeliveryProgress> {
  const input = () => ({ ...id, now: temporalClock.now() });
  const made = is_slow ? null : await deliveringLocally.attemptDeliveryLocally(input());
  return made ?? (await delivering.attemptDelivery(input()));
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
