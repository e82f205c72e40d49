import { numbersFrom } from '../support/random';

/** A card that a customer or a mistaken client sends. */
export interface SentCard {
  number: string;
  security_code: string;
  brand: string;
}

/** Prefixes, lengths and code lengths of brands. */
const BRANDS = [
  { brand: 'visa', prefixes: ['4'], length: 16, code: 3 },
  { brand: 'mastercard', prefixes: ['51', '52', '55', '2221', '2720'], length: 16, code: 3 },
  { brand: 'american-express', prefixes: ['34', '37'], length: 15, code: 4 },
  { brand: 'discover', prefixes: ['6011', '65'], length: 16, code: 3 },
  { brand: 'jcb', prefixes: ['3528', '3589'], length: 16, code: 3 },
  { brand: 'diners-club', prefixes: ['36', '38'], length: 14, code: 3 },
  { brand: 'unionpay', prefixes: ['62'], length: 19, code: 3 },
];

/** So many cards of all brands with a valid check digit, none of them published; the same seed makes the same. */
export function makeCards(count: number, seed: number, published: readonly string[]): SentCard[] {
  const random = numbersFrom(seed);
  const digit = () => String(Math.floor(random() * 10));
  const cards: SentCard[] = [];
  for (let n = 0; cards.length < count; n += 1) {
    const { brand, prefixes, length, code } = BRANDS[n % BRANDS.length]!;
    let body = prefixes[Math.floor(random() * prefixes.length)]!;
    while (body.length < length - 1) body += digit();
    const number = body + checkDigit(body);
    const security_code = Array.from({ length: code }, digit).join('');
    // Two cards with the same beginning could not be told apart in a mask.
    if (!published.includes(number) && !looksLikeList(number)) cards.push({ number, security_code, brand });
  }
  return cards;
}

/** Whether its groups in a list are taken for prices or articles, which are passed over (rules 15.7). */
function looksLikeList(number: string): boolean {
  const groups = inGroups(number, ' ').split(' ').map(Number);
  if (groups.length !== 4) return false;
  const areArticles = new Set(groups).size === 4 && Math.max(...groups) <= 1.75 * Math.min(...groups);
  return areArticles || groups.every((group) => [0, 5, 9].includes(group % 10));
}

/** The digit that makes the number pass Luhn's check. */
function checkDigit(body: string): string {
  const sum = Array.from(body, Number)
    .toReversed()
    .reduce((total, digit, index) => {
      const doubled = digit * (index % 2 === 0 ? 2 : 1);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return String((10 - (sum % 10)) % 10);
}

/** The number in groups as it stands on the card. */
export function inGroups(number: string, separator: string): string {
  const groups =
    number.length === 15 ? /^(.{4})(.{6})(.{5})$/ : number.length === 14 ? /^(.{4})(.{6})(.{4})$/ : undefined;
  return groups === undefined
    ? number.replace(/(.{4})(?=.)/g, `$1${separator}`)
    : number.replace(groups, `$1${separator}$2${separator}$3`);
}
