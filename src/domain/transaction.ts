import type { TransactionStatus } from './transitions';

/** Who made a status change; `service`: this service by itself, when some time ran out. */
export type EventSource = 'customer' | 'merchant' | 'processor' | 'service';
/** The processor's result as the event shows it; absent while the outcome is open. */
export type EventResult = 'approved' | 'declined' | 'failed';

/** What the processor answered to a charge, as far as decisions need it. `unknown`: no answer, so anything may have happened. */
export type Answer =
  | {
      result: 'approved' | 'declined' | 'refused' | 'processing' | 'challenge' | 'error';
      response_code?: string | undefined;
    }
  | 'unknown';

/**
 * The move that follows from an answer, and what its event shows. A declined card is a value, never an error (rules 3.3).
 */
export interface Outcome {
  to: TransactionStatus;
  result?: EventResult;
  /** The issuer's own code; on a decline only. */
  authorization_iso_response_code?: string;
}

/**
 * What a transaction becomes by the processor's answer. `unknown` is never a decline: the transaction is processing until the
 * processor gives an outcome (rules 10.1).
 */
export function outcomeOf(answer: Answer): Outcome {
  if (answer === 'unknown') return { to: 'processing' };
  switch (answer.result) {
    case 'approved':
      return { to: 'accepted', result: 'approved' };
    case 'declined':
      return {
        to: 'error',
        result: 'declined',
        ...(answer.response_code === undefined ? {} : { authorization_iso_response_code: answer.response_code }),
      };
    case 'refused':
    case 'error':
      return { to: 'error', result: 'failed' };
    case 'challenge':
      return { to: 'pending' };
    case 'processing':
      return { to: 'processing' };
  }
}

/** The key under which the processor knows a charge: derived, so that every repeat is the same request. */
export function chargeKey(transaction_id: string): string {
  return `${transaction_id}:charge`;
}

const ASK_AGAIN_AFTER_MS = [2_000, 5_000, 10_000, 20_000, 30_000];
/** Once a minute for half an hour, then less often: banks take days for some refunds. */
const ASKS_EVERY_MINUTE = 30;

/** Milliseconds until the processor is asked again for an open outcome; `asked` counts the earlier times. */
export function pollAfter(asked: number): number {
  return ASK_AGAIN_AFTER_MS[asked] ?? (asked < ASKS_EVERY_MINUTE ? 60_000 : 10 * 60_000);
}

/** After so many asks without an outcome, about a day, an operator has to look. */
export const POLLS_BEFORE_ATTENTION = 170;
