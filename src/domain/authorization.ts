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
  closings: Closing[];
}

/** What an order holds; `undefined` when it holds nothing any more, or never did. */
export function openAuthorization(order: OrderRecord): Authorization | undefined {
  const accepted = order.transactions.find((one) => one.status === 'accepted');
  const capture = accepted?.capture;
  if (accepted === undefined || capture?.end === undefined || capture.reserved + capture.unanswered === 0) return undefined;
  const { mode, end, reserved, unanswered } = capture;
  return { transaction_id: accepted.transaction_id, mode, end, reserved, unanswered, closings: order.closings ?? [] };
}

/**
 * What the service does with the money that is left at the end of the window: a delayed authorization is captured, once; all
 * else is released, what a later refusal frees as well. A processor that refuses to release is not asked for ever.
 * `closed`: the end has been dealt with, so that what is held now has been freed since.
 */
export function closingOf({ mode, end, reserved, closings }: Authorization, now: number, closed = false): Closing['kind'] | undefined {
  if (!hasEnded(end, now) || reserved === 0) return undefined;
  if (mode === 'delayed' && !closed && !closings.some(({ kind }) => kind === 'capture')) return 'capture';
  return closings.some(({ kind, status }) => kind === 'void' && status === 'error') ? undefined : 'void';
}

/** Whether nothing is left to wait for: the window is over, and what could not be released is nobody's to ask for. */
export function isClosed(authorization: Authorization, now: number): boolean {
  return hasEnded(authorization.end, now) && authorization.unanswered === 0 && closingOf(authorization, now) === undefined;
}
