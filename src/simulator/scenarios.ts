import type { OperationResult } from '../processor/wire';

type Result = OperationResult['result'];

/** ISO 8583 response codes this processor answers. */
export const RESPONSE_CODES = {
  '00': 'Approved',
  '05': 'Do not honor',
  '12': 'Invalid transaction',
  '13': 'Invalid amount',
  '14': 'Invalid card number',
  '43': 'Stolen card',
  '51': 'Insufficient funds',
  '57': 'Transaction not permitted to cardholder',
} as const;
export type ResponseCode = keyof typeof RESPONSE_CODES;

/** How an operation ends; `later` replaces result and code once its time has come. */
export interface ScenarioOutcome {
  readonly result: Result;
  readonly response_code?: ResponseCode;
  readonly three_ds?: NonNullable<OperationResult['three_ds']>;
  readonly later?: { readonly after_ms: number; readonly result: Result; readonly response_code: ResponseCode };
}

/** The outcomes of a card, from its first charge to the last chargeback. Operations not listed are approved. */
export interface Scenario {
  readonly charge?: ScenarioOutcome;
  readonly capture?: ScenarioOutcome;
  readonly refund?: ScenarioOutcome;
  /**
   * The fault when a charge's key arrives for the first time. `lost_answer`: it happened, but the answer is lost;
   * otherwise nothing happened.
   */
  readonly first_arrival?: 'no_answer' | 'error' | 'lost_answer';
  /** Milliseconds from the payment (sale or capture) to its chargeback. */
  readonly chargeback_after_ms?: number;
  /** Milliseconds from the chargeback to its reversal in the merchant's favour. */
  readonly won_after_ms?: number;
}

const LATER_MS = 20_000;
const CHARGEBACK_MS = 10_000;

export const APPROVED: ScenarioOutcome = { result: 'approved', response_code: '00' };
const declined = (response_code: ResponseCode): ScenarioOutcome => ({ result: 'declined', response_code });
export const refused = (response_code: ResponseCode): ScenarioOutcome => ({ result: 'refused', response_code });
const processing = (result: Result, response_code: ResponseCode): ScenarioOutcome => ({
  result: 'processing',
  later: { after_ms: LATER_MS, result, response_code },
});

const AUTHENTICATED = { result: 'authenticated', liability_shift: true } as const;

/** Ends of a 3-D Secure challenge. */
const CHALLENGE_PASSED: ScenarioOutcome = { ...APPROVED, three_ds: AUTHENTICATED };
export const CHALLENGE_FAILED: ScenarioOutcome = {
  result: 'error',
  three_ds: { result: 'failed', liability_shift: false },
};
/** Code → how the challenge ends; any other code is asked for again. */
export const CHALLENGE_CODES: Readonly<Record<string, ScenarioOutcome>> = {
  '0101': CHALLENGE_PASSED,
  '3333': CHALLENGE_FAILED,
};

export const SCENARIOS = {
  approved: {},
  do_not_honor: { charge: declined('05') },
  stolen: { charge: declined('43') },
  insufficient_funds: { charge: declined('51') },
  challenge: { charge: { result: 'challenge' } },
  frictionless: { charge: { ...APPROVED, three_ds: AUTHENTICATED } },
  processing_approved: { charge: processing('approved', '00') },
  processing_declined: { charge: processing('declined', '05') },
  no_answer: { first_arrival: 'no_answer' },
  lost_answer: { first_arrival: 'lost_answer' },
  error_then_fine: { first_arrival: 'error' },
  chargeback: { chargeback_after_ms: CHARGEBACK_MS },
  chargeback_won: { chargeback_after_ms: CHARGEBACK_MS, won_after_ms: CHARGEBACK_MS },
  capture_refused: { capture: refused('57') },
  refund_refused: { refund: refused('57') },
  refund_processing: { refund: processing('approved', '00') },
  /** A number that is not in the table: it works on live only. */
  other: {},
} as const satisfies Record<string, Scenario>;
export type ScenarioName = keyof typeof SCENARIOS;

/** A scenario by the name that was stored; a name of an older table is approved. */
export function scenarioOf(name: string | null): Scenario {
  return name !== null && Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name as ScenarioName] : SCENARIOS.approved;
}

/** Test cards do not work on live, other cards do not work in test. */
export function chargeOutcome(scenario: ScenarioName, is_test: boolean): ScenarioOutcome {
  if (is_test === (scenario === 'other')) return declined('14');
  const { charge }: Scenario = SCENARIOS[scenario];
  return charge ?? APPROVED;
}
