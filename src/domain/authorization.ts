import type { CaptureMode } from './amounts';
import type { Closing, OrderSnapshot } from './order-snapshot';
import { isExpired } from './order';

/** Money reserved by an accepted authorization. The order's workflow lives until it is captured, voided or released. */
export interface Authorization {
  transaction_id: string;
  capture_mode: CaptureMode;
  /** End of the capture window, epoch milliseconds. */
  capture_ends_at: number;
  /** Reserved and not requested; minor units. */
  reserved: number;
  /** Requested from the processor and not answered; minor units. */
  unanswered: number;
  /** Freed by refusals after the window ended, so no longer to be captured; minor units. */
  freed: number;
  closings: Closing[];
}

/** The money an order still holds; `undefined` when it holds none. */
export function openAuthorization(order: OrderSnapshot): Authorization | undefined {
  const accepted = order.transactions.find((one) => one.status === 'accepted');
  const capture = accepted?.capture;
  if (accepted === undefined || capture?.capture_ends_at === undefined || capture.reserved + capture.unanswered === 0) {
    return undefined;
  }
  const { capture_mode, capture_ends_at, reserved, unanswered, freed } = capture;
  return {
    transaction_id: accepted.id,
    capture_mode,
    capture_ends_at,
    reserved,
    unanswered,
    freed,
    closings: order.closings ?? [],
  };
}

/**
 * The capture or void of the money left at the end of the window, in minor units: a delayed authorization is captured
 * once; all other money is released, including amounts freed by a later refusal. An amount that the processor refused
 * to release stays reserved and is not requested again. `undefined`: nothing to do now. `now` in epoch milliseconds.
 */
export function closingOf(
  { capture_mode, capture_ends_at, reserved, freed, closings }: Authorization,
  now: number,
): { kind: Closing['kind']; amount: number } | undefined {
  if (!isExpired(capture_ends_at, now) || reserved === 0) return undefined;
  if (capture_mode === 'delayed' && closings.length === 0 && reserved > freed) {
    return { kind: 'capture', amount: reserved - freed };
  }
  const amount = reserved - refusedAmount(closings);
  return amount > 0 ? { kind: 'void', amount } : undefined;
}

/** The amount that the processor refused to release, in minor units. */
function refusedAmount(closings: readonly Closing[]): number {
  return closings
    .filter(({ kind, status }) => kind === 'void' && status === 'error')
    .reduce((sum, { amount }) => sum + amount, 0);
}

/**
 * Whether the authorization is finished: the window is over, no request is unanswered, and the service captures or
 * releases no more.
 */
export function isWindowClosed(authorization: Authorization, now: number): boolean {
  return (
    isExpired(authorization.capture_ends_at, now) &&
    authorization.unanswered === 0 &&
    closingOf(authorization, now) === undefined
  );
}
