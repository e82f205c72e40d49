import { ServiceError } from '../errors';
import { WEBHOOK_RECOVERY_MOVES, canMove, isFinal, type WebhookRecoveryStatus } from './transitions';
import { DAY_MS, nearestRecordable } from './period';

/** Who paused a recovery: a request, or the service because the receiver fails again. */
export type PausedBy = 'request' | 'failures';

/** A recovery as its workflow sees it. */
export interface WebhookRecoveryProgress {
  status: WebhookRecoveryStatus;
  paused_by?: PausedBy | undefined;
  /** Orders whose webhook is still to be sent; absent where they could not be counted in time. */
  remaining?: number;
  sent: number;
  delivered: number;
  /** Recoveries follow real time. */
  clock_offset_ms: 0;
}

/** Webhooks that a recovery sends in a second, at most (rules 13.17). */
export const RECOVERED_PER_SECOND = 10;
/** Webhooks that it has sent and whose first attempt has not ended, at most. */
export const RECOVERED_AT_ONCE = 20;
/** After so many first attempts in a row that failed it is paused (rules 13.18). */
export const FAILURES_IN_A_ROW = 5;
/** The longest time of one recovery, in days. */
const RECOVERY_DAYS_MAX = 31;

/** A request about a recovery. */
export type WebhookRecoveryRequest = 'pause' | 'resume' | 'stop';

const TARGETS = { pause: 'paused', resume: 'running', stop: 'stopped' } as const;

/** The status after the request. Throws Conflict when the recovery has ended, or is not in a status that it fits. */
export function afterRecoveryRequest(
  status: WebhookRecoveryStatus,
  request: WebhookRecoveryRequest,
): WebhookRecoveryStatus {
  const to = TARGETS[request];
  if (canMove(WEBHOOK_RECOVERY_MOVES, status, to)) return to;
  const already = status === to && !isFinal(WEBHOOK_RECOVERY_MOVES, status) ? ' already' : '';
  throw new ServiceError('Conflict', `The recovery is ${status}${already}.`);
}

/** What is wrong with the time of a recovery; `now` and the ends in epoch milliseconds. */
export function recoveryTimeProblem(
  { since, until }: { since: number; until: number },
  now: number,
): { path: 'since' | 'until'; text: string } | undefined {
  if (since > now) return { path: 'since', text: 'Lies in the future.' };
  if (since < nearestRecordable(since)) return { path: 'since', text: 'Lies before 1970.' };
  if (until < since) return { path: 'until', text: 'Lies before since.' };
  if (until - since > RECOVERY_DAYS_MAX * DAY_MS) {
    return { path: 'since', text: `Lies more than ${RECOVERY_DAYS_MAX} days before the end of the time.` };
  }
  return undefined;
}
