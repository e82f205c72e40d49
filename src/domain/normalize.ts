/** Thirty characters that normalize to combining marks, before one more; the half-width ones are no marks themselves. */
const LONG_RUN_OF_MARKS = /(?:[\p{M}\uff9e\uff9f]{30})(?=[\p{M}\uff9e\uff9f])/gu;
/** The combining grapheme joiner, which ends a run of marks. It is invisible. */
const JOINER = '\u034f';

/**
 * Unicode NFKC. Long runs of combining marks are divided as in the Stream-Safe Text Format of Unicode (UAX 15): to
 * normalize a run takes time in proportion to the square of its length.
 */
export function normalized(text: string): string {
  return text.replaceAll(JOINER, '').replace(LONG_RUN_OF_MARKS, `$&${JOINER}`).normalize('NFKC');
}
