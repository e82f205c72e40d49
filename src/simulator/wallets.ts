import type { VaultWallet, VaultedCard, Wallet } from '../processor/wire';
import type { ScenarioName } from './scenarios';

/** What is known about the card in each wallet. A device has its own number for it, which is never typed. */
const DEVICE_CARDS: Record<Wallet, Pick<VaultedCard, 'brand' | 'truncated_pan'>> = {
  'apple-pay': { brand: 'visa', truncated_pan: '481776******0016' },
  'google-pay': { brand: 'mastercard', truncated_pan: '520424******0024' },
};

/** Years from now to the end of a device card, so that it never runs out. */
const VALID_YEARS = 3;

/** The card that a wallet pays with: test and live each have their own, which is approved there (Two books). */
export function deviceCard(
  { payment_method, is_test }: VaultWallet,
  now: Date,
): Omit<VaultedCard, 'vault_token'> & { scenario: ScenarioName } {
  return {
    ...DEVICE_CARDS[payment_method],
    card_expiry: `12${now.getUTCFullYear() + VALID_YEARS}`,
    scenario: is_test ? 'approved' : 'other',
  };
}
