/** Rows of a word: as many as an order has at most. */
const ROWS = 32;
/** Words of a block: small, as the orders of one project may be far apart. */
const WORDS = 128;

/**
 * The rows that a report has read, by `row_sequence`. A bit each, in blocks: about 9 bytes for each order of a dense
 * range, where a Set needs 40 for each row, and ends at 2^24.
 */
export class RowNumbers {
  private readonly blocks = new Map<number, Uint32Array>();

  /** Adds a row; false if it was added before. */
  add(row_sequence: number): boolean {
    const word = Math.floor(row_sequence / ROWS);
    const bit = 1 << (row_sequence % ROWS);
    const block = this.blockOf(Math.floor(word / WORDS));
    const isNew = (block[word % WORDS]! & bit) === 0;
    block[word % WORDS]! |= bit;
    return isNew;
  }

  private blockOf(number: number): Uint32Array {
    const block = this.blocks.get(number) ?? new Uint32Array(WORDS);
    this.blocks.set(number, block);
    return block;
  }
}
