import { number as cardNumber } from 'card-validator';

/** Digits of the shortest numbers that a brand ever had, and of the shortest that are issued: goods (EAN, UPC) and phones have 12 and 13. */
export const CARD_DIGITS_MIN = { ever: 12, issued: 14 } as const;

/** Whether a text is a card number: a brand's prefix and length and a valid check digit. Spaces and hyphens are ignored. */
export function isCardNumber(text: string, digits_min: number = CARD_DIGITS_MIN.ever): boolean {
  const digits = text.replace(/[ -]/g, '');
  return digits.length >= digits_min && /^\d{12,19}$/.test(digits) && cardNumber(digits).isValid;
}

/** `4111111111111111` → `411111******1111`, as payment_method_details.truncated_pan shows it (DECISIONS, HTTP surface 3). */
export function truncatedPan(number: string): string {
  const digits = number.replace(/\D/g, '');
  return `${digits.slice(0, 6)}${'*'.repeat(Math.max(0, digits.length - 10))}${digits.slice(-4)}`;
}
