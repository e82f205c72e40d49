import { Temporal } from 'temporal-polyfill';

/** The longest durations a request may ask for (rules 7). */
export const MAX_DURATION = {
  /** An order, and an unpaid transaction. */
  order: 'P30D',
  /** From acceptance to capture; after that the issuer may cancel the reservation (rules 7.4). */
  capture: 'P5D',
  link: 'P365D',
  /** How long a rolled key or secret keeps working (rules 21.12). */
  overlap: 'P30D',
  /** How far the clock of an object can be advanced, at once and in all (rules 23.5). */
  sandbox_clock: 'P400D',
} as const;

const SHORTEST_MS = 1000;

export const EXPECTED_DURATION = 'Expected an ISO 8601 duration, for example PT30M.';

/**
 * Milliseconds of an ISO 8601 duration such as PT30M, P7D or P1W. A day is 24 hours. Throws a RangeError, whose message
 * names no value, for anything else: years and months have no fixed length, a duration below PT1S would end before it
 * began, the format `duration` of the API's document has no fractions, and weeks stand alone (rules 1.9).
 */
export function parseDuration(text: string): number {
  // Temporal.Duration also accepts signs and lower-case letters.
  if (!/^P[^a-z+-]+$/.test(text)) throw new RangeError(EXPECTED_DURATION);
  if (/^P[^T]*[YM]/.test(text)) {
    throw new RangeError('Years and months have no fixed length: use weeks, days, hours, minutes and seconds.');
  }
  if (/[.,]/.test(text)) throw new RangeError('Fractions are not accepted: use a smaller unit.');
  const ms = millisecondsOf(text);
  // Temporal.Duration accepts what the standard does not.
  if (/W./.test(text)) throw new RangeError('Weeks stand alone: use days in place of weeks.');
  if (ms < SHORTEST_MS) throw new RangeError('Expected PT1S at least.');
  return ms;
}

function millisecondsOf(text: string): number {
  let duration: Temporal.Duration;
  try {
    duration = Temporal.Duration.from(text);
  } catch {
    throw new RangeError(EXPECTED_DURATION);
  }
  // Duration.total needs a calendar as soon as there are weeks.
  const { weeks, days, hours, minutes, seconds } = duration;
  return ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

/** When a key or secret that is rolled at `now` stops working: after `overlap`; at once with PT0S. */
export function overlapEnd(overlap: string, now: Date): Date {
  return new Date(now.getTime() + (overlap === 'PT0S' ? 0 : parseDuration(overlap)));
}

/** The error in a duration, in words for the merchant; `undefined` when it may be used. */
export function durationProblem(text: string, longest: string): string | undefined {
  try {
    return parseDuration(text) > parseDuration(longest) ? `Expected ${longest} at most.` : undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
