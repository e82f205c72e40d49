import { setCurrentDetails, sleep, upsertSearchAttributes } from '@temporalio/workflow';
import type { DeliveryId } from '../src/domain/delivery';
import type { DeliveryStatus } from '../src/domain/transitions';
import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_RETRY_AFTER_MS } from '../src/domain/webhook-schedule';
import { local, delivering } from './activities';
import { ATTENTION } from './search-attributes';

/**
 * Delivers one webhook: up to ten attempts until the receiver answers 2xx, each two minutes after the end of the last
 * (rules 13.6). The first is a local activity, so that a successful delivery costs a single workflow task. Returns the
 * delivery's final status.
 */
export async function webhookDelivery(id: DeliveryId): Promise<DeliveryStatus> {
  let status = await local.attemptDelivery({ ...id, attempt: 1, now: Date.now() });
  for (let attempt = 2; status === 'new'; attempt += 1) {
    setCurrentDetails(`${attempt - 1} of ${WEBHOOK_ATTEMPTS_MAX} attempts failed.`);
    await sleep(WEBHOOK_RETRY_AFTER_MS, { summary: `two minutes until attempt ${attempt} of ${WEBHOOK_ATTEMPTS_MAX}` });
    status = await delivering.attemptDelivery({ ...id, attempt, now: Date.now() });
  }
  if (status === 'failed') {
    upsertSearchAttributes([{ key: ATTENTION, value: `webhook failed ${WEBHOOK_ATTEMPTS_MAX} times` }]);
  }
  setCurrentDetails(`The webhook is ${status}.`);
  return status;
}
