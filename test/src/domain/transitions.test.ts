import {
  DELIVERY_MOVES,
  FINAL_TRANSACTION_STATUSES,
  OPEN_ATTEMPT_STATUSES,
  OPEN_DELIVERY_STATUSES,
  OPEN_ORDER_STATUSES,
  OPEN_PAYMENT_LINK_STATUSES,
  ORDER_MOVES,
  PAYMENT_LINK_MOVES,
  UNPAID_ATTEMPT_STATUSES,
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

  test('rules 19.3 and 13.10: the moves of payment links and deliveries', () => {
    expect(PAYMENT_LINK_MOVES).toEqual({
      new: ['processing', 'completed', 'all_unsuccessful', 'expired'],
      processing: ['completed', 'all_unsuccessful', 'expired'],
      all_unsuccessful: ['processing', 'completed', 'expired'],
      completed: [],
      expired: [],
    });
    expect(DELIVERY_MOVES).toEqual({
      new: ['paused', 'delivered', 'failed'],
      paused: ['new', 'delivered', 'failed'],
      delivered: [],
      failed: [],
    });
  });

  test('lists of statuses that are not final, or wait for an outcome', () => {
    expect(OPEN_ORDER_STATUSES).toEqual(['new', 'processing', 'see-transactions']);
    expect(OPEN_PAYMENT_LINK_STATUSES).toEqual(['new', 'processing', 'all_unsuccessful']);
    expect(OPEN_DELIVERY_STATUSES).toEqual(['new', 'paused']);
    expect(OPEN_ATTEMPT_STATUSES).toEqual(['new', 'pending', 'processing']);
    expect(UNPAID_ATTEMPT_STATUSES).toEqual(['new', 'pending']);
    expect(FINAL_TRANSACTION_STATUSES).toEqual(['error', 'cancelled', 'expired']);
  });

  test('the diagram begins with new, ends where a status is final, and names a status with a hyphen', () => {
    expect(toMermaid<'new' | 'a-b'>({ new: ['a-b'], 'a-b': [] })).toBe(
      ['stateDiagram-v2', '    a_b: a-b', '    [*] --> new', '    new --> a_b', '    a_b --> [*]'].join('\n'),
    );
  });

  test('the diagram draws every move once', () => {
    const arrows = toMermaid(ORDER_MOVES).match(/^ +\w+ --> \w+$/gm) ?? [];
    expect(arrows).toHaveLength(Object.values(ORDER_MOVES).flat().length);
  });
});
