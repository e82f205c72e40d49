import { ApplicationFailure, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { WEBHOOK_ATTEMPTS_MAX, type DeliveryId, type DeliveryProgress } from '../src/domain/delivery';
import type { DeliveryStatus } from '../src/domain/transitions';
import { deliveryWait } from '../src/domain/waits';
import { delivering, deliveringLocally } from './activities';
import { ObjectClock } from './clock';
import { clockMoved, deliverNow, type DeliveryInput } from './messages';
import { waitInWords } from './operator-view';
import { ATTENTION } from './search-attributes';
import { Waits } from './wait';

/**
 * Delivers one webhook: up to ten attempts until the receiver answers 2xx, each two minutes after the end of the last
 * (rules 13.6). It goes on from the record, whatever became of an earlier run. Returns the delivery's final status.
 */
export async function webhookDelivery({ clock_offset_ms, ...id }: DeliveryInput): Promise<DeliveryStatus> {
  const clock = new ObjectClock(clock_offset_ms);
  const waits = new Waits(clock);
  let waiting = false;
  setHandler(clockMoved, (offset_ms) => clock.moveTo(offset_ms), {
    description: 'The sandbox clock of the order was moved.',
  });
  setHandler(
    deliverNow,
    () => {
      waiting = false;
    },
    {
      description: 'Makes the next attempt at once; it is one of the ten.',
      validator: () => {
        if (!waiting) throw ApplicationFailure.nonRetryable('The webhook is being sent.', 'Conflict');
      },
    },
  );

  let delivery = await attempt(clock, id);
  while (delivery.status === 'new') {
    const next = delivery.attempts + 1;
    setCurrentDetails(describeDelivery(delivery));
    waiting = true;
    const summary = `until attempt ${next} of ${WEBHOOK_ATTEMPTS_MAX}`;
    await waits.until({ at: delivery.next_attempt_at ?? 0, summary }, () => !waiting);
    waiting = false;
    delivery = await attempt(clock, { ...id, attempt: next }, delivery);
  }
  if (delivery.status === 'failed') {
    upsertSearchAttributes([{ key: ATTENTION, value: `webhook failed ${WEBHOOK_ATTEMPTS_MAX} times` }]);
  }
  setCurrentDetails(describeDelivery(delivery));
  return delivery.status;
}

/**
 * Makes an attempt: inside this workflow task if the receiver is expected to answer at once, else as a task of its own.
 */
async function attempt(
  clock: ObjectClock,
  named: DeliveryId & { attempt?: number },
  last?: DeliveryProgress,
): Promise<DeliveryProgress> {
  const input = { ...named, now: clock.now() };
  const made = last?.is_slow === true ? null : await deliveringLocally.attemptDeliveryLocally(input);
  const progress = made ?? (await delivering.attemptDelivery(input));
  clock.moveTo(progress.clock_offset_ms);
  return progress;
}

/** What an operator reads in the Web UI. */
function describeDelivery(delivery: DeliveryProgress): string {
  const { status, attempts, failure } = delivery;
  if (status === 'delivered') return `Delivered at attempt ${attempts} of ${WEBHOOK_ATTEMPTS_MAX}.`;
  const failed = `${attempts} of ${WEBHOOK_ATTEMPTS_MAX} attempts failed`;
  const why = failure === undefined ? '' : ` (the last one: ${failure})`;
  const wait = deliveryWait(delivery);
  return `${failed}${why}.${wait === undefined ? '' : ` ${waitInWords(wait)}`}`;
}
