import type { TransactionMoney } from '../../src/domain/amounts';

/** Where the capture window of anAuthorization ends, epoch milliseconds. */
export const CAPTURE_END = 10_000;

/** The money of a sale of 100 that was accepted. */
export const aSale = (over: Partial<TransactionMoney> = {}): TransactionMoney => ({
  status: 'accepted',
  amount: 100,
  capture_mode: null,
  capture_ends_at: null,
  captured_amount: 100,
  voided_amount: 0,
  refunded_amount: 0,
  charged_back_amount: 0,
  won_back_amount: 0,
  capture_pending_amount: 0,
  void_pending_amount: 0,
  refund_pending_amount: 0,
  ...over,
});

/** The money of a manual authorization of 100 that was accepted and not touched since. */
export const anAuthorization = (over: Partial<TransactionMoney> = {}): TransactionMoney =>
  aSale({ capture_mode: 'manual', capture_ends_at: CAPTURE_END, captured_amount: 0, ...over });

/**
 * The money of a payment of 100 in words: `sale`, `manual` or `delayed`, then what differs, as `manual captured=30
 * status=expired`.
 */
export function moneyIn(words: string): TransactionMoney {
  const [mode, ...fields] = words.split(' ');
  const over = fields.map((field) => {
    const [name, value] = field.split('=');
    if (name === 'status') return [name, value];
    return [name === 'amount' || name === 'capture_ends_at' ? name : `${name}_amount`, Number(value)];
  });
  const capture_mode = mode as 'manual' | 'delayed';
  const changes = Object.fromEntries(over) as Partial<TransactionMoney>;
  return mode === 'sale' ? aSale(changes) : anAuthorization({ capture_mode, ...changes });
}

/** The rows of a table in text: a line each, its cells between bars. */
export const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()) as [string, string, string, string, string]);
