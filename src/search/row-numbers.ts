import { ROWS_MAX } from './documents';

/** Words of a block. */
const WORDS = 2 ** 20;
/** With more words a block is an array: as a map it would take more memory. */
const MAPPED_MAX = 2 ** 15;

/**
 * The rows that a report has read, by `row_sequence`: a bit each, in one word for each order. An order takes about 94
 * bytes where the project has few of the orders nearby, and all of a block of a million orders at most 4 MiB. A Set
 * takes 40 bytes for each row, and ends at 2^24.
 */
export class RowNumbers {
  private readonly blocks = new Map<number, Map<number, number> | Uint32Array>();

  /** Adds a row; false if it was added before. */
  add(row_sequence: number): boolean {
    const order = Math.floor(row_sequence / ROWS_MAX);
    const [number, word] = [Math.floor(order / WORDS), order % WORDS];
    const bit = 1 << (row_sequence % ROWS_MAX);
    const block = this.blocks.get(number) ?? new Map<number, number>();
    const bits = (block instanceof Map ? block.get(word) : block[word]) ?? 0;
    if ((bits & bit) !== 0) return false;
    if (block instanceof Map) block.set(word, bits | bit);
    else block[word] = bits | bit;
    this.blocks.set(number, block instanceof Map && block.size > MAPPED_MAX ? arrayOf(block) : block);
    return true;
  }
}

function arrayOf(block: ReadonlyMap<number, number>): Uint32Array {
  const words = new Uint32Array(WORDS);
  for (const [word, bits] of block) words[word] = bits;
  return words;
}
