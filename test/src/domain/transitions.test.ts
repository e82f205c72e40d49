import {
  ORDER_MOVES,
  ORDER_STATUSES,
  TRANSACTION_MOVES,
  TRANSACTION_STATUSES,
  isFinal,
  canMove,
  statusesBefore,
  toMermaid,
} from '../../../src/domain/transitions';

/** Rules 4.2 and 4.5, written a second time by hand: x = allowed. */
const TRANSACTION_TABLE = `
             new pending processing accepted error cancelled expired
new           .     x        x         x       x       x        x
pending       .     .        x         x       x       x        x
processing    .     x        .         x       x       .        .
accepted      .     .        .         .       .       x        x
error         .     .        .         .       .       .        .
cancelled     .     .        .         .       .       .        .
expired       .     .        .         .       .       .        .`;

const ORDER_TABLE = `
                  new processing see-transactions completed cancelled expired error
new                .      x             .             x         x        x      x
processing         .      .             x             x         x        x      x
see-transactions   .      x             .             x         x        x      x
completed          .      .             .             .         .        .      .
cancelled          .      .             .             .         .        .      .
expired            .      .             .             .         .        .      .
error              .      .             .             .         .        .      .`;

function pairsOf(table: string): [string, string, boolean][] {
  const [header = [], ...lines] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return lines.flatMap(([from = '', ...cells]) =>
    cells.map((cell, i): [string, string, boolean] => [from, header[i] ?? '', cell === 'x']),
  );
}

describe('the table of moves', () => {
  test.each(pairsOf(TRANSACTION_TABLE))('rules 4.2: transaction %s → %s: %s', (from, to, allowed) => {
    expect(canMove(TRANSACTION_MOVES, from as never, to as never)).toBe(allowed);
    expect(statusesBefore(TRANSACTION_MOVES, to as never).includes(from as never)).toBe(allowed);
  });

  test.each(pairsOf(ORDER_TABLE))('rules 4.5: order %s → %s: %s', (from, to, allowed) => {
    expect(canMove(ORDER_MOVES, from as never, to as never)).toBe(allowed);
  });

  test('names every pair of statuses', () => {
    expect(pairsOf(TRANSACTION_TABLE)).toHaveLength(TRANSACTION_STATUSES.length ** 2);
    expect(pairsOf(ORDER_TABLE)).toHaveLength(ORDER_STATUSES.length ** 2);
  });

  test.each([
    ['transaction', TRANSACTION_MOVES],
    ['order', ORDER_MOVES],
  ])(
    'every status of a %s is reached from new, and new from none',
    (_name, moves: Record<string, readonly string[]>) => {
      const reached = new Set(['new']);
      for (const from of reached) for (const to of moves[from] ?? []) reached.add(to);
      expect([...reached].toSorted()).toEqual(Object.keys(moves).toSorted());
      expect(Object.values(moves).flat()).not.toContain('new');
    },
  );

  test('rules 4.5: completed, cancelled, expired and error are final for an order', () => {
    expect(ORDER_STATUSES.filter((status) => isFinal(ORDER_MOVES, status))).toEqual([
      'completed',
      'cancelled',
      'expired',
      'error',
    ]);
  });

  test('the diagram draws every move once', () => {
    const arrows = toMermaid(ORDER_MOVES).match(/^ +\w+ --> \w+$/gm) ?? [];
    expect(arrows).toHaveLength(Object.values(ORDER_MOVES).flat().length);
  });
});
