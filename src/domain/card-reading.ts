import { normalized } from './normalize';

/** Texts as a person or a program reads them. */

// oxlint-disable-next-line no-control-regex
const NOT_PRINTABLE_ASCII = /[^\t\n\v\f\r\x20-\x7e]/;
/** A card number has 12 digits; no single character is read as more than two. */
const MAY_HOLD_CARD_NUMBER = /(?:\p{N}\P{N}*){6}/u;
// oxlint-disable-next-line no-control-regex
const INVISIBLE = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\x00-\x08\x0e-\x1f\x7f-\x9f]/gu;
const FOREIGN_DIGIT = /[^\P{Nd}0-9]/gu;
/** Percent-encoded characters, encoded once or several times: `%34`, `%2534`. */
const PERCENT_ENCODED = /(?:%(?:25)*[0-9a-f]{2})+/gi;
/**
 * A character by its number, escaped once or several times: `&#52;`, `&amp;#x34;`. Browsers read it without `;` too.
 */
const NUMERIC = /&(?:amp;)*#(?:\d{1,7}|x[\da-f]{1,6});?/gi;
/** Tags, characters by name such as `&nbsp;`, and the space around them. */
const GAP = /(?:<[a-z/!][^<>]*>|&(?:amp;)*(?:nbsp;?|[a-z]{2,8};)|\s)+/gi;
const ENCODED = new RegExp(`${PERCENT_ENCODED.source}|${NUMERIC.source}|${GAP.source}`, 'gi');
const MAY_BE_HTML = /<[a-z/!]|&[#a-z]/i;

/** A way to read a text, in pieces whose positions are known. */
export interface Reading {
  /** Whether the text may contain anything to decode. */
  readonly applies: (text: string) => boolean;
  /** The characters that are read at once. */
  readonly pieces: RegExp;
  readonly read: (piece: string) => string;
}

/** Decodes percent-encoding and HTML. The text is also read undecoded, last, because decoding may hide a part of it. */
export const READINGS: readonly Reading[] = [
  {
    applies: (text) => MAY_BE_HTML.test(text),
    pieces: new RegExp(`${ENCODED.source}|.`, 'gisu'),
    read: (piece) => visibleText(decode(piece)),
  },
  {
    applies: (text) => text.includes('%'),
    pieces: new RegExp(`${PERCENT_ENCODED.source}|.`, 'gisu'),
    read: (piece) => visibleText(decodePercent(piece)),
  },
  { applies: () => true, pieces: /./gsu, read: visibleText },
];

/** The readings of a text, the undecoded one first. Empty if it has too few digits for a card number. */
export function* readings(text: string): Generator<string> {
  if (NOT_PRINTABLE_ASCII.test(text) && !MAY_HOLD_CARD_NUMBER.test(text)) return;
  const visible = visibleText(text);
  yield visible;
  if (visible.includes('%')) yield visibleText(decodePercent(visible));
  if (MAY_BE_HTML.test(visible)) yield visibleText(decode(visible));
}

/** Decodes percent-encoding and HTML. A gap with a tag is read as a comma, another one as a space. */
function decode(text: string): string {
  return text.replace(ENCODED, (found) => {
    if (found.startsWith('%')) return decodePercent(found);
    const [, number] = /#(x?[\da-f]+)/i.exec(found) ?? [];
    if (number === undefined || found.includes('<')) return found.includes('<') ? ',' : ' ';
    const code = Number(/^x/i.test(number) ? `0${number}` : number);
    return code > 0x10ffff ? ' ' : String.fromCodePoint(code);
  });
}

/** The text without invisible characters, in the plain form of each, with the digits of any script as 0 to 9. */
export function visibleText(text: string): string {
  if (!NOT_PRINTABLE_ASCII.test(text)) return text;
  return normalized(text).replace(INVISIBLE, '').replace(FOREIGN_DIGIT, asciiDigit);
}

const asciiDigits = new Map<string, string>();

/** The value of a decimal digit: Unicode has the ten digits of a script one after the other. */
function asciiDigit(digit: string): string {
  const known = asciiDigits.get(digit);
  if (known !== undefined) return known;
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  const value = String((code - zero) % 10);
  asciiDigits.set(digit, value);
  return value;
}

function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(PERCENT_ENCODED, (encoded) => {
    const once = encoded.replace(/%(?:25)+(?=[0-9a-f]{2})/gi, '%');
    try {
      return decodeURIComponent(once);
    } catch {
      // Not UTF-8, so each byte is a character.
      return once.replace(/%(..)/g, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)));
    }
  });
}
