import { setCurrentDetails } from '@temporalio/workflow';
import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_RETRY_AFTER_MS } from '../src/domain/delivery';
import type { IncidentEvent, IncidentProgress } from '../src/domain/incident';
import { asMarkdown } from '../src/domain/shown-text';
import { localActivities, notifying } from './activities';
import type { IncidentInput } from './messages';
import { temporalClock } from './object/clock';
import { RecordedObject } from './object/recorded-object';
import { upsertAttention } from './operator-view';

/**
 * A difference in money between the record and the processor (rules 26.5). Carries `Attention` while it is open, and
 * sends the events to the operator's webhook. Ends once it is closed. Returns how it ended.
 */
export async function incident(input: IncidentInput): Promise<string> {
  const object: RecordedObject<IncidentProgress> = new RecordedObject({
    name: 'incident',
    find: () => localActivities.readIncident(input),
    show: showIncident,
  });
  object.setSignalHandlers();
  for (;;) {
    const { due_event, is_closed, has_failed_event } = await object.readLatest();
    if (due_event !== undefined) await sendEvent(object, input, due_event);
    else if (is_closed) return has_failed_event ? 'closed, an event was not delivered' : 'closed';
    else await object.waits.untilMet(() => object.hasNews);
    if (object.needsNewRun) await object.continueInNewRun(() => input);
  }
}

/** Up to ten attempts, each two minutes after the end of the last, as webhooks to merchants have (rules 13.6). */
async function sendEvent(
  object: RecordedObject<IncidentProgress>,
  input: IncidentInput,
  event: IncidentEvent,
): Promise<void> {
  for (let attempt = 1; attempt <= WEBHOOK_ATTEMPTS_MAX; attempt += 1) {
    const { failure } = await notifying.notifyOperator({ ...input, event, attempt });
    if (failure === undefined || attempt === WEBHOOK_ATTEMPTS_MAX) return;
    const summary = `until attempt ${attempt + 1} of ${WEBHOOK_ATTEMPTS_MAX}`;
    await object.waits.until({ at: temporalClock.now() + WEBHOOK_RETRY_AFTER_MS, summary }, () => false);
  }
}

/** The text of `Attention`; undefined when the operator has nothing to do. */
export function attentionToIncident({ kind, is_closed, has_failed_event }: IncidentProgress): string | undefined {
  if (!is_closed) return `the record and the processor differ: ${kind}`;
  return has_failed_event ? `the operator's webhook failed ${WEBHOOK_ATTEMPTS_MAX} times` : undefined;
}

function showIncident(progress: IncidentProgress): void {
  upsertAttention(attentionToIncident(progress));
  const state = progress.is_closed ? 'Closed.' : 'Open.';
  setCurrentDetails(`**${state}** ${asMarkdown(progress.description)} See docs/operations.md, Incidents.`);
}
