import { number as cardNumber } from 'card-validator';

/** Digits of the shortest card numbers, ever and as issued today: articles (EAN, UPC) and phones have 12 and 13. */
export const CARD_DIGITS_MIN = { ever: 12, issued: 14 } as const;

/** Whether a text is a card number: a brand's prefix and length and a valid check digit. Spaces and hyphens are ignored. */
export function isCardNumber(text: string, digits_min: number = CARD_DIGITS_MIN.ever): boolean {
  const digits = text.replace(/[ -]/g, '');
  return digits.length >= digits_min && /^\d{12,19}$/.test(digits) && cardNumber(digits).isValid;
}
