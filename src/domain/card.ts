import { number as cardNumber } from 'card-validator';

/** Whether a text is a card number: a brand's prefix and length and a valid check digit. Spaces and hyphens are ignored. */
export function isCardNumber(text: string): boolean {
  const digits = text.replace(/[ -]/g, '');
  return /^\d{12,19}$/.test(digits) && cardNumber(digits).isValid;
}

/** `4111111111111111` → `411111******1111`, as payment_method_details.truncated_pan shows it (DECISIONS, HTTP surface 3). */
export function truncatedPan(number: string): string {
  const digits = number.replace(/\D/g, '');
  return `${digits.slice(0, 6)}${'*'.repeat(Math.max(0, digits.length - 10))}${digits.slice(-4)}`;
}
