import leven from 'leven';
import { normalized } from '../normalize';

/** Text as it is compared: Unicode NFKC, without case. */
export function fold(text: string): string {
  // Most texts are ASCII, which normalizing leaves as it is.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  return normalized(withoutCase(normalized(text)));
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
