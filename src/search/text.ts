import { createHash } from 'node:crypto';

/**
 * Bytes of a stored text; the index compares no more than 468 of a value, and a longer one never matches. Longer
 * texts end in a digest of the whole, so that they stay different.
 */
const STORED_MAX = 440;
const DIGEST = 40;
/** Bytes of a longer text that are stored before its digest. */
export const PREFIX_MAX = STORED_MAX - DIGEST - 1;

/**
 * A folded text as the index stores it. The index itself trims texts, takes them apart (é becomes e and an accent) and
 * reads some as numbers, so that different texts would be equal: it gets visible ASCII only, after a sign that no
 * number begins with. Encoding keeps
 * prefixes: if a begins with b, encoded(a) begins with encoded(b).
 */
export function stored(folded: string): string {
  const text = encoded(folded);
  if (text.length <= STORED_MAX) return text;
  const digest = createHash('sha256').update(folded).digest('hex').slice(0, DIGEST);
  return `${text.slice(0, PREFIX_MAX)}~${digest}`;
}

/** Like stored, but whole. */
export function encoded(folded: string): string {
  // Most texts need no change, and finding that out is quicker than looking at code points.
  if (/^[!-}]*$/.test(folded)) return `=${folded}`;
  return `=${folded.replace(/[^!-}]/gu, (character) => `~${character.codePointAt(0)!.toString(36)}~`)}`;
}
