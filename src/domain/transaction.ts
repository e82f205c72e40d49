import type { CaptureMode } from './amounts';
import { DAY_MS, HOUR_MS } from './period';

/**
 * Who made a status change. `service`: the service itself, at the end of a period. `operator`: the outcome was set by
 * hand (rules 10.14).
 */
export const EVENT_SOURCES = ['customer', 'merchant', 'processor', 'service', 'operator'] as const;
export type EventSource = (typeof EVENT_SOURCES)[number];
/** The processor's result as the event shows it; absent while the outcome is open. */
export type EventResult = 'approved' | 'declined' | 'failed';

/**
 * How long after a transaction's end the processor is polled for a late approval: a customer may still be at the
 * issuer, but not longer than this (rules 10.12). Milliseconds.
 */
export const POLL_AFTER_END_MS = 15 * 60_000;

/** The key under which the processor knows a charge: derived, so that every repeat is the same request. */
export function chargeIdempotencyKey(transaction_id: string): string {
  return `${transaction_id}:charge`;
}

interface ChargeTerms {
  /** Minor units. */
  amount: number;
  capture_mode: CaptureMode | null;
}

/**
 * The processor's operation that charges a card: an authorization only reserves money; an order of 0 only checks the
 * card (rules 5.3).
 */
export function chargeOperation({ amount, capture_mode }: ChargeTerms): 'authorize' | 'sale' {
  return capture_mode !== null || amount === 0 ? 'authorize' : 'sale';
}

/** A charge as the processor must report it: every answer about it is compared with this (rules 10.17). */
export function expectedCharge(charge: ChargeTerms & { transaction_id: string; currency: string }) {
  const { transaction_id, amount, currency } = charge;
  return { operation: chargeOperation(charge), transaction_id, amount, currency };
}

/** When to poll the result of 3-D Secure if its notification is lost. Milliseconds. */
export const POLL_ISSUER_AFTER_MS = 5 * 60_000;

const POLL_AFTER_MS = [2_000, 5_000, 10_000, 20_000, 30_000];
/** Once a minute for half an hour, then less often: banks take days for some refunds. */
const POLLS_EACH_MINUTE = 34;

/** Milliseconds until the next poll of an open outcome, after `polls` polls. */
export function pollAfter(polls: number): number {
  return POLL_AFTER_MS[polls] ?? (polls < POLLS_EACH_MINUTE ? 60_000 : 10 * 60_000);
}

/**
 * Intervals of polls after a transaction's end while the customer is still at the issuer: hourly for a day, then less
 * often, and an operator must look. Milliseconds (rules 10.12).
 */
export const POLL_LATE_CHALLENGE_MS = { first_day: HOUR_MS, later: 6 * HOUR_MS } as const;
/**
 * Without an answer about a possible late approval, or an operation that the processor announced, for this long, an
 * operator must look. Milliseconds.
 */
export const ANSWER_OVERDUE_MS = DAY_MS;
/**
 * How long the processor's look-up may not find an operation that the processor announced (rules 10.9). Milliseconds.
 */
const LOOK_UP_LAG_MS = 6 * HOUR_MS;

/**
 * The next question about a transaction that is watched since `began`, after the processor had no answer at `now`:
 * when, and whether an operator has to look meanwhile. Epoch milliseconds (rules 10.12).
 */
export function nextLatePoll(began: number, now: number): { poll_at: number; is_overdue: boolean } {
  const is_overdue = isAnswerOverdue(began, now);
  return { poll_at: now + (is_overdue ? POLL_LATE_CHALLENGE_MS.later : POLL_LATE_CHALLENGE_MS.first_day), is_overdue };
}

/** Whether an operator has to look, as the processor is polled since `began` without an answer. Epoch milliseconds. */
export function isAnswerOverdue(began: number, now: number): boolean {
  return now - began >= ANSWER_OVERDUE_MS;
}

/**
 * Whether the processor's look-up may still lag behind what it announced, so that `not_found` is no answer. Epoch
 * milliseconds (rules 10.9).
 */
export function mayLookUpLag(announced: number, now: number): boolean {
  return now - announced < LOOK_UP_LAG_MS;
}

/** After this many polls without an outcome, about a day, an operator must look. */
export const POLLS_BEFORE_ATTENTION = 170;

/** The outcomes that an operator may set by hand, where the processor will never give one (rules 10.14). */
export const MANUAL_OUTCOMES = ['approved', 'declined'] as const;
/** Characters of an operator's reason: long enough for a ticket and a sentence. */
export const REASON_LENGTH_MAX = 500;
