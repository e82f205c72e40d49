import leven from 'leven';

/** Thirty characters that normalize to combining marks, before one more; the half-width ones are no marks themselves. */
const LONG_RUN_OF_MARKS = /(?:[\p{M}\uff9e\uff9f]{30})(?=[\p{M}\uff9e\uff9f])/gu;
/** The combining grapheme joiner, which ends a run of marks. */
const JOINER = '\u034f';

/**
 * Text as it is compared: Unicode NFKC, without case. Long runs of combining marks are divided as in the Stream-Safe Text
 * Format of Unicode (UAX 15): to normalize a run takes time in proportion to the square of its length.
 */
export function fold(text: string): string {
  // Most texts are ASCII, which normalizing leaves as it is.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  const divided = text.replace(LONG_RUN_OF_MARKS, `$&${JOINER}`);
  return withoutCase(divided.normalize('NFKC')).normalize('NFKC');
}

/** Text without case, in every script. */
export function withoutCase(text: string): string {
  // Lower case writes a sigma at the end of a word differently, which would tell a prefix from the word it begins.
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/** Words of an order that free words are compared with; later ones are not found. */
export const WORDS_MAX = 40;

/** The words of a text as they are compared: split at all characters but letters, digits and combining marks. */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/**
 * Returns the name with the fewest edits to a text; `undefined` when none is near. A dotted name is also known by
 * its last part.
 */
export function nearest(text: string, names: readonly string[]): string | undefined {
  const wanted = text.toLowerCase();
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const distance = (name: string) => leven(wanted, name.toLowerCase(), { maxDistance: most + 1 });
  const distances = names.map((name) => Math.min(distance(name), distance(name.split('.').at(-1)!)));
  const least = Math.min(...distances);
  return least <= most ? names[distances.indexOf(least)] : undefined;
}
