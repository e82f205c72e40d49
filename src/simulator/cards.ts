import { number as cardNumber } from 'card-validator';
import type { VaultWallet, VaultedCard, Wallet } from '../processor/wire';
import type { ScenarioName } from './scenarios';

/** A published test card. Any future expiry and any security code of three digits are valid. */
export interface SimulatorCard {
  readonly number: string;
  /** A few words for lists and buttons. */
  readonly title: string;
  /** The behaviour, in a sentence. */
  readonly meaning: string;
  readonly scenario: ScenarioName;
}

/**
 * The table of test cards (rules 17.2), by meaning. The published numbers ending in 05, 43 and 51 have a wrong check
 * digit: a form that accepts them must not validate it.
 */
export const TEST_CARDS = {
  approved: {
    number: '4111111111111111',
    title: 'Approved',
    meaning: 'Every operation is approved.',
    scenario: 'approved',
  },
  approved_mastercard: {
    number: '5544330000000037',
    title: 'Approved, Mastercard',
    meaning: 'Every operation is approved.',
    scenario: 'approved',
  },
  do_not_honor: {
    number: '4111111111111105',
    title: 'Declined, 05',
    meaning: 'The issuer declines: 05 Do not honor.',
    scenario: 'do_not_honor',
  },
  stolen: {
    number: '4111111111111143',
    title: 'Declined, 43',
    meaning: 'The issuer declines: 43 Stolen card.',
    scenario: 'stolen',
  },
  insufficient_funds: {
    number: '4111111111111151',
    title: 'Declined, 51',
    meaning: 'The issuer declines: 51 Insufficient funds.',
    scenario: 'insufficient_funds',
  },
  challenge: {
    number: '4018810000150015',
    title: '3-D Secure challenge',
    meaning: 'The issuer asks for a code: 0101 passes, 3333 fails.',
    scenario: 'challenge',
  },
  frictionless: {
    number: '4018810000100036',
    title: '3-D Secure frictionless',
    meaning: 'Authenticated without a question, then approved.',
    scenario: 'frictionless',
  },
  processing_approved: {
    number: '4018810000200000',
    title: 'Processing, then approved',
    meaning: 'The outcome is open for 20 seconds, then it is approved.',
    scenario: 'processing_approved',
  },
  processing_declined: {
    number: '4018810000210009',
    title: 'Processing, then declined',
    meaning: 'The outcome is open for 20 seconds, then it is declined with 05.',
    scenario: 'processing_declined',
  },
  no_answer: {
    number: '4018810000220008',
    title: 'No answer',
    meaning: 'The first call gets no answer and nothing happened; the repeat is approved.',
    scenario: 'no_answer',
  },
  lost_answer: {
    number: '4018810000230007',
    title: 'Approved, answer lost',
    meaning: 'Approved, but the answer to the first call is lost.',
    scenario: 'lost_answer',
  },
  error_then_fine: {
    number: '4018810000240006',
    title: 'Error 500, then approved',
    meaning: 'The first call gets an error and nothing happened; the repeat is approved.',
    scenario: 'error_then_fine',
  },
  chargeback: {
    number: '5544330000010002',
    title: 'Chargeback',
    meaning: 'Approved; the customer takes the money back 10 seconds after payment.',
    scenario: 'chargeback',
  },
  chargeback_won: {
    number: '5544330000020001',
    title: 'Chargeback won back',
    meaning: 'Approved; charged back 10 seconds after payment, won back 10 seconds later.',
    scenario: 'chargeback_won',
  },
  capture_refused: {
    number: '4018810000270003',
    title: 'Capture refused',
    meaning: 'Approved; every capture of an authorization is refused.',
    scenario: 'capture_refused',
  },
  refund_refused: {
    number: '4018810000280002',
    title: 'Refund refused',
    meaning: 'Approved; every refund is refused.',
    scenario: 'refund_refused',
  },
  refund_processing: {
    number: '4018810000290001',
    title: 'Refund processing',
    meaning: 'Approved; a refund is open for 20 seconds, then it is approved.',
    scenario: 'refund_processing',
  },
} as const satisfies Record<string, SimulatorCard>;

export type TestCardName = keyof typeof TEST_CARDS;

const BY_NUMBER: ReadonlyMap<string, SimulatorCard> = new Map(
  Object.values(TEST_CARDS).map((card) => [card.number, card]),
);

/** The published test card of that number. */
export function testCard(number: string): SimulatorCard | undefined {
  return BY_NUMBER.get(number);
}

/** Brand of a number as the wire names it, by prefix and length; undefined for a number that no brand issues. */
export function brandOf(number: string): string | undefined {
  // Numbers of the table are valid even with a wrong check digit.
  const found = cardNumber(number, { skipLuhnValidation: testCard(number) !== undefined });
  return found.isValid ? found.card?.type : undefined;
}

/** Facts about the card in each wallet. The device has its own card number, which is never typed. */
const DEVICE_CARDS: Record<Wallet, Pick<VaultedCard, 'brand' | 'truncated_pan'>> = {
  'apple-pay': { brand: 'visa', truncated_pan: '481776******0016' },
  'google-pay': { brand: 'mastercard', truncated_pan: '520424******0024' },
};

/** Years from now to the end of a device card, so that it never runs out. */
const VALID_YEARS = 3;

/** The card that a wallet pays with: test and live each have their own, which is approved there. */
export function deviceCard(
  { payment_method, is_test }: VaultWallet,
  now: Date,
): Omit<VaultedCard, 'vault_token'> & { scenario: ScenarioName } {
  return {
    ...DEVICE_CARDS[payment_method],
    wallet: payment_method,
    card_expiry: `12${now.getUTCFullYear() + VALID_YEARS}`,
    scenario: is_test ? 'approved' : 'other',
  };
}
