import type { CaptureMode } from './amounts';

/**
 * Who made a status change. `service`: this service by itself, when some time ran out. `operator`: the outcome was
 * settled by hand (rules 10.14).
 */
export const EVENT_SOURCES = ['customer', 'merchant', 'processor', 'service', 'operator'] as const;
export type EventSource = (typeof EVENT_SOURCES)[number];
/** The processor's result as the event shows it; absent while the outcome is open. */
export type EventResult = 'approved' | 'declined' | 'failed';

/**
 * How long after a transaction's end the processor is asked whether it approved it after all: a customer may still be
 * at the issuer, but not longer than this (rules 10.12). Milliseconds.
 */
export const POLL_AFTER_END_MS = 15 * 60_000;

/** The key under which the processor knows a charge: derived, so that every repeat is the same request. */
export function chargeIdempotencyKey(transaction_id: string): string {
  return `${transaction_id}:charge`;
}

/**
 * The processor's operation that charges a card: an authorization only reserves money; an order of 0 only checks the card
 * (rules 5.3).
 */
export function chargeOperation({
  amount,
  capture_mode,
}: {
  amount: number;
  capture_mode: CaptureMode | null;
}): 'authorize' | 'sale' {
  return capture_mode !== null || amount === 0 ? 'authorize' : 'sale';
}

/** A charge as the processor must know it: every answer about it is compared (rules 10.17). */
export function expectedCharge({
  transaction_id,
  amount,
  currency,
  capture_mode,
}: {
  transaction_id: string;
  amount: number;
  currency: string;
  capture_mode: CaptureMode | null;
}) {
  return { operation: chargeOperation({ amount, capture_mode }), transaction_id, amount, currency };
}

/** A notification normally reports the result of 3-D Secure; this is for a lost one. Milliseconds. */
export const POLL_ISSUER_AFTER_MS = 5 * 60_000;

const POLL_AFTER_MS = [2_000, 5_000, 10_000, 20_000, 30_000];
/** For half an hour once a minute, then less often: banks take days for some refunds. */
const POLLS_EACH_MINUTE = 30;

/** Milliseconds until the processor is asked again for an open outcome; `polls` counts the earlier times. */
export function pollAfter(polls: number): number {
  return POLL_AFTER_MS[polls] ?? (polls < POLLS_EACH_MINUTE ? 60_000 : 10 * 60_000);
}

/**
 * From its end on, how often the processor is asked about a customer who is still at the issuer there: hourly for a day,
 * then the operator has to look, and it is asked less often. Milliseconds (rules 10.12).
 */
export const POLL_LATE_CHALLENGE_MS = { first_day: 60 * 60_000, later: 6 * 60 * 60_000 } as const;
/** After so long without an answer about a possible late approval an operator has to look. Milliseconds. */
const LATE_APPROVAL_OVERDUE_MS = 24 * 60 * 60_000;
/** How long an operation that the processor announced may be unknown when it is asked (rules 10.9). Milliseconds. */
const ANNOUNCED_OVERDUE_MS = 6 * 60 * 60_000;

/**
 * The next question about a transaction that is watched since `began`, after the processor had no answer at `now`: when,
 * and whether an operator has to look meanwhile. Epoch milliseconds (rules 10.12).
 */
export function nextLatePoll(began: number, now: number): { poll_at: number; is_overdue: boolean } {
  const is_overdue = now - began >= LATE_APPROVAL_OVERDUE_MS;
  return { poll_at: now + (is_overdue ? POLL_LATE_CHALLENGE_MS.later : POLL_LATE_CHALLENGE_MS.first_day), is_overdue };
}

/**
 * Whether the processor's look-up may still lag behind what it announced, so that `not_found` is no answer. Epoch
 * milliseconds (rules 10.9).
 */
export function mayLookUpLag(announced: number, now: number): boolean {
  return now - announced < ANNOUNCED_OVERDUE_MS;
}

/** After so many polls without an outcome, about a day, an operator has to look. */
export const POLLS_BEFORE_ATTENTION = 170;

/** The outcomes that an operator may set by hand, where the processor will never give one (rules 10.14). */
export const SETTLED_OUTCOMES = ['approved', 'declined'] as const;
/** Characters of an operator's reason: long enough for a ticket and a sentence. */
export const REASON_LENGTH_MAX = 500;
