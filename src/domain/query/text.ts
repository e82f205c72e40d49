/** Text as it is compared: Unicode NFKC, without case. */
export function fold(text: string): string {
  // Most texts are ASCII, which normalizing leaves as it is.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  // Lower case writes a sigma at the end of a word differently, which would tell a prefix from the word it begins.
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

/** Words of an order that free words are compared with; later ones are not found. */
export const WORDS_MAX = 40;

/** The words of a text as they are compared: split at what is no letter, digit or combining mark. */
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
  // A text that is so much longer or shorter needs no look: each character more is an edit.
  const distance = (name: string) =>
    Math.abs(name.length - wanted.length) > most ? Infinity : edits(wanted, name.toLowerCase(), most);
  const distances = names.map((name) => Math.min(distance(name), distance(name.split('.').at(-1)!)));
  const least = Math.min(...distances);
  return least <= most ? names[distances.indexOf(least)] : undefined;
}

/** Characters to insert, remove, replace or swap with the next until one text is the other; Infinity beyond `most`. */
function edits(from: string, to: string, most: number): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
        swapped ? before[column - 2]! + 1 : Infinity,
      );
    }
    [before, last] = [last, next];
    // The next row is made of these two, and no number of it is less than the least of them.
    if (!last.some((count) => count <= most) && !before.some((count) => count <= most)) return Infinity;
  }
  return last[to.length]!;
}
