/** Numbers that are none of a card, although parts of them look like one: UUIDs, digests, tokens and IBANs. */

const UUID = /(?<![\da-z])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-z])/gi;
/**
 * UUIDs without hyphens, digests, tokens; not the data of a magnetic stripe as a chip gives it: number, D, expiry,
 * digits, F.
 */
const HEXADECIMAL =
  /(?<![\da-z])(?=\d*[a-f])(?!\d{12,19}d\d\d(?:0[1-9]|1[0-2])\d{3,}f?(?![\da-z]))[\da-f]{24,}(?![\da-z])/gi;
/** The shape of an IBAN and of words after it; the check digits show where it ends. */
const IBAN_SHAPE = /(?<![\da-z])[a-z]{2}\d{2}(?: ?[\da-z]{4}){2,7}(?: ?[\da-z]{1,3})?(?![\da-z])/gi;
const IBAN_LENGTH_MIN = 15;

/** A text with letters in place of these numbers; positions stay. */
export function withoutOtherNumbers(reading: string): string {
  const blank = (found: string) => 'x'.repeat(found.length);
  return reading
    .replace(UUID, blank)
    .replace(HEXADECIMAL, blank)
    .replace(IBAN_SHAPE, (found) => {
      const length = ibanLength(found);
      return blank(found.slice(0, length)) + found.slice(length);
    });
}

/**
 * Characters of the IBAN that a text begins with, 0 for none: as a number modulo 97 it is 1, letters being 10 to 35
 * (ISO 13616).
 */
function ibanLength(text: string): number {
  const appended = (rest: number, character: string) => {
    const value = parseInt(character, 36);
    return (rest * (value > 9 ? 100 : 10) + value) % 97;
  };
  // The country and the check digits count last.
  const modulo97 = (rest: number) => Array.from(text.slice(0, 4)).reduce(appended, rest);
  let length = 0;
  let rest = 0;
  for (let i = 4; i < text.length; i += 1) {
    const character = text.charAt(i);
    if (character !== ' ') rest = appended(rest, character);
    const ends = i + 1 === text.length || text.charAt(i + 1) === ' ';
    if (ends && i + 1 >= IBAN_LENGTH_MIN && modulo97(rest) === 1) length = i + 1;
  }
  return length;
}
