import type { CaptureMode } from './amounts';
import type { Closing, OrderRecord } from './move';
import { hasEnded } from './order';

/** Money reserved by an accepted authorization, which its order lives for: until it is captured, voided or released. */
export interface Authorization {
  transaction_id: string;
  mode: CaptureMode;
  /** End of the capture window, epoch milliseconds. */
  end: number;
  /** Reserved, and nobody has asked for it; minor units. */
  reserved: number;
  /** Asked of the processor and not answered; minor units. */
  unanswered: number;
  /** Freed by refusals after the window had ended: no longer to be captured; minor units. */
  freed: number;
  closings: Closing[];
}

/** What an order holds; `undefined` when it holds nothing any more, or never did. */
export function openAuthorization(order: OrderRecord): Authorization | undefined {
  const accepted = order.transactions.find((one) => one.status === 'accepted');
  const capture = accepted?.capture;
  if (accepted === undefined || capture?.end === undefined || capture.reserved + capture.unanswered === 0) return undefined;
  const { mode, end, reserved, unanswered, freed = 0 } = capture;
  return { transaction_id: accepted.transaction_id, mode, end, reserved, unanswered, freed, closings: order.closings ?? [] };
}

/**
 * What the service does with the money that is left at the end of the window, in minor units: a delayed authorization is captured,
 * first and once; all else is released, what a later refusal frees as well. A processor that refuses to release is not asked for ever.
 */
export function closingOf({ mode, end, reserved, freed, closings }: Authorization, now: number): { kind: Closing['kind']; amount: number } | undefined {
  if (!hasEnded(end, now) || reserved === 0) return undefined;
  if (mode === 'delayed' && closings.length === 0 && reserved > freed) return { kind: 'capture', amount: reserved - freed };
  return closings.some(({ kind, status }) => kind === 'void' && status === 'error') ? undefined : { kind: 'void', amount: reserved };
}

/** Whether nothing is left to wait for: the window is over, and what could not be released is nobody's to ask for. */
export function isClosed(authorization: Authorization, now: number): boolean {
  return hasEnded(authorization.end, now) && authorization.unanswered === 0 && closingOf(authorization, now) === undefined;
}
