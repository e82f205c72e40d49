import { setCurrentDetails } from '@temporalio/workflow';
import { WEBHOOK_RECOVERY_MOVES, isFinal, type WebhookRecoveryStatus } from '../src/domain/transitions';
import { FAILURES_IN_A_ROW, type WebhookRecoveryProgress } from '../src/domain/webhook-recovery';
import { localActivities, recovering } from './activities';
import type { WebhookRecoveryInput } from './messages';
import { RecordedObject } from './object/recorded-object';

/**
 * Sends the failed webhooks of a project again (rules 13.16). Its position, and whether it is paused, is in the record:
 * a lost workflow goes on from it. Returns the final status.
 */
export async function webhookRecovery(input: WebhookRecoveryInput): Promise<WebhookRecoveryStatus> {
  const recovery: RecordedObject<WebhookRecoveryProgress> = new RecordedObject({
    name: 'webhook recovery',
    find: () => localActivities.readWebhookRecovery(input),
    show: (progress: WebhookRecoveryProgress) => setCurrentDetails(describeRecovery(progress)),
  });
  recovery.setSignalHandlers();
  for (;;) {
    const { status } = await recovery.readLatest();
    if (isFinal(WEBHOOK_RECOVERY_MOVES, status)) return status;
    if (recovery.needsNewRun) await recovery.continueInNewRun(() => input);
    if (status === 'paused') await recovery.waits.untilMet(() => recovery.hasNews);
    else await recovering.recoverWebhooks(input);
  }
}

/** The details in the Web UI. */
export function describeRecovery({ status, paused_by, remaining, sent, delivered }: WebhookRecoveryProgress): string {
  const to_send = remaining === undefined ? '' : `; ${remaining} to send`;
  const figures = `${sent} webhooks sent, ${delivered} of them delivered${to_send}.`;
  if (paused_by === 'failures') return `**Paused: ${FAILURES_IN_A_ROW} in a row failed.** ${figures}`;
  return `**${status.charAt(0).toUpperCase()}${status.slice(1)}.** ${figures}`;
}
