import type { SentCard } from './secrets';

/** A secret that must be nowhere, by a name that may be shown. */
export interface Secret {
  name: string;
  text: string;
}

/** Digits of a number that may be shown together: more of them in a row are a hit. */
const SHOWN_TOGETHER_MAX = 11;
/** A mask that shows more than the first six and the last four digits. */
const WIDE_MASK = /(?<![\dA-Za-z])(?:\d{7,}[*xX•.]{2,}\d{4,}|\d{4,}[*xX•]{2,}\d{5,})(?![\dA-Za-z])/g;

/**
 * Finds card numbers in all the forms in which a program may write them, security codes beside their name, and keys.
 */
export class Scanner {
  /** Parts of numbers, by their digits. */
  private readonly parts = new Map<string, string>();
  /** Texts that are looked for as they are: encoded numbers and keys. */
  private readonly needles: Secret[] = [];
  private readonly codes: RegExp;

  constructor(cards: readonly SentCard[], secrets: readonly Secret[]) {
    for (const [n, { number }] of cards.entries()) {
      const name = `card ${n}`;
      for (let at = 0; at + SHOWN_TOGETHER_MAX < number.length; at += 1) {
        this.parts.set(number.slice(at, at + SHOWN_TOGETHER_MAX + 1), name);
      }
      for (const text of [number, number.replace(/(.{4})(?=.)/g, '$1 ')]) {
        for (const encoded of encodings(text)) this.needles.push({ name: `${name}, encoded`, text: encoded });
      }
    }
    for (const { name, text } of secrets) {
      for (const one of [text, ...encodings(text)]) this.needles.push({ name, text: one });
    }
    const codes = [...new Set(cards.map(({ security_code }) => security_code))].join('|');
    this.codes = new RegExp(
      `(?:security_?code|cvv2?|cvc2?|csc)["'\\\\]*\\s*[:=>]+\\s*["'\\\\]*(?:${codes})(?!\\d)`,
      'gi',
    );
  }

  /** What the text holds, by name and never by value. Masks and codes are looked for in texts that people read. */
  hits(text: string, { is_binary = false } = {}): string[] {
    const found = new Set<string>();
    for (const { name, text: needle } of this.needles) if (text.includes(needle)) found.add(name);
    for (const reading of readings(text)) this.addNumbers(reading, found);
    if (is_binary) return [...found];
    if (this.codes.test(text)) found.add('a security code beside its name');
    this.codes.lastIndex = 0;
    if (WIDE_MASK.test(text)) found.add('a mask that shows more than first six and last four');
    WIDE_MASK.lastIndex = 0;
    return [...found];
  }

  private addNumbers(reading: string, found: Set<string>): void {
    const length = SHOWN_TOGETHER_MAX + 1;
    for (const [run] of reading.matchAll(/\d{12,}/g)) {
      for (let at = 0; at + length <= run.length; at += 1) {
        const name = this.parts.get(run.slice(at, at + length));
        if (name !== undefined) found.add(name);
      }
    }
  }
}

/** The text as it is, and decoded, each without the characters between digits. */
function readings(text: string): string[] {
  const decoded = text
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/\\u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/&#(\d{1,3});/g, (_, code: string) => String.fromCharCode(Number(code)));
  return [...new Set([text, decoded])].flatMap((one) => [one, one.replace(/(?<=\d)[^\dA-Za-z]{1,3}(?=\d)/g, '')]);
}

/**
 * A text in base64 (at each of the three offsets at which it may stand), in hexadecimal, and with `%` before each byte.
 */
function encodings(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    // The first and last characters also encode what stands beside it.
    return encoded.slice(before === 0 ? 0 : before + 1, Math.floor(((before + bytes.length) * 8) / 6));
  });
  const hex = bytes.toString('hex');
  return [
    ...base64,
    ...base64.map((one) => one.replaceAll('-', '+').replaceAll('_', '/')),
    hex,
    hex.replace(/(..)/g, '%$1'),
  ];
}
