import { randomUUID } from 'node:crypto';
import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import type { TransactionMoney } from '../../src/domain/amounts';
import type { AcceptedRequest } from '../../src/domain/accepted-request';
import type { NewOrder, NewTransaction } from '../../src/domain/new-order';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import type { TransactionStatus } from '../../src/domain/transitions';
import { TEST_CARDS, type TestCardName } from '../../src/simulator/cards';
import type { CreateOrderInput } from '../../workflows/messages';

/** The project of every database of a test. */
export const PROJECT = {
  id: '0190c000-0000-7000-8000-00000000aaaa',
  merchant_id: '0190c000-0000-7000-8000-00000000bbbb',
  currencies: ['EUR', 'USD', 'JPY'],
  payment_methods: ['credit-card'],
};

/** The simulator's test cards by meaning: `CARDS.approved.number`. */
export const CARDS = TEST_CARDS;
export type CardName = TestCardName;

/** All that account funding asks of a customer. */
export const CUSTOMER = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  address_type: 'billing',
  address: 'Keizersgracht 1',
  postal_code: '1015 CJ',
  city: 'Amsterdam',
  country: 'NL',
};

/** An instant of workflow time that tells itself from the clock of the machine. */
export const NOW = Date.UTC(2030, 0, 15, 12);

export const MINUTE = 60_000;

/**
 * Random texts that a test tries on a parser: set it higher to find more. The proof `mutation`, which runs it thousands of
 * times, sets it lower.
 */
export const RANDOM_TEXTS = Number(process.env['RANDOM_TEXTS'] ?? 5_000);

export const transactionIdOf = (order_id: string, attempt: number) => uuidv5(`transaction:${attempt}`, order_id);

/** A request with an Idempotency-Key; one that has to begin before an instant has none. */
export const aRequest = (over: Partial<AcceptedRequest> = {}): AcceptedRequest => ({
  request_id: randomUUID(),
  deadline_at: Date.now() + 30_000,
  has_idempotency_key: over.begin_before === undefined,
  is_repeat: false,
  first_received_at: Date.now(),
  ...over,
});

/** A request without an Idempotency-Key whose answer says already that nothing was done. */
export const aLateRequest = () => aRequest({ begin_before: Date.now() - 1 });

/** An order that came with a card token. */
export const BY_TOKEN = { attempts_max: 1, charged_by: 'token' } as const;

export const anOrder = (over: Partial<NewOrder> = {}): NewOrder => ({
  id: uuidv7(),
  project_id: PROJECT.id,
  currency: 'EUR',
  amount: 500,
  expiration_period: 'PT30M',
  attempts_max: 5,
  charged_by: 'customer',
  ...over,
});

export const aTransaction = (order_id: string, over: Partial<NewTransaction> = {}): NewTransaction => ({
  id: transactionIdOf(order_id, over.attempt ?? 1),
  attempt: 1,
  payment_method: 'credit-card',
  expiration_period: 'PT30M',
  ...over,
});

/** What the API asks for: an order that is charged at once with this token. */
export function aCharge(
  vault_token: string,
  over: Partial<CreateOrderInput> = {},
): CreateOrderInput & { transaction: NonNullable<CreateOrderInput['transaction']> } {
  const order = anOrder(BY_TOKEN);
  const details = { vault_token, truncated_pan: '411111******1111' };
  return {
    request: aRequest(),
    order,
    period: 30 * MINUTE,
    is_test: true,
    ...over,
    transaction: {
      ...aTransaction(order.id),
      payment_method_details: details,
      payment_method_brand: 'visa',
      period: 30 * MINUTE,
    },
  };
}

/** An order with attempts of these statuses, as decisions need it; each attempt ends at 800, the order at 1,000. */
export const anOrderSnapshot = (
  transactions: TransactionStatus[] = [],
  fields: Partial<OrderSnapshot> = {},
): OrderSnapshot => ({
  id: 'o',
  project_id: 'p',
  status: 'new',
  version: 3,
  amount: 500,
  currency: 'EUR',
  attempts_max: 5,
  charged_by: 'customer',
  expires_at: 1_000,
  clock_offset_ms: 0,
  transactions: transactions.map((status, i) => ({ id: `t${i + 1}`, attempt: i + 1, status, expires_at: 800 })),
  deliveries: [],
  ...fields,
});

/** Where the capture window of anAuthorization ends, epoch milliseconds. */
export const WINDOW_END = 10_000;

/** The amounts of a transaction of which nothing was moved. */
export const NO_AMOUNTS = {
  captured_amount: 0,
  voided_amount: 0,
  refunded_amount: 0,
  charged_back_amount: 0,
  won_back_amount: 0,
  capture_pending_amount: 0,
  void_pending_amount: 0,
  refund_pending_amount: 0,
};

/** The money of a sale of 100 that was accepted. */
export const aSale = (over: Partial<TransactionMoney> = {}): TransactionMoney => ({
  status: 'accepted',
  amount: 100,
  capture_mode: null,
  capture_ends_at: null,
  ...NO_AMOUNTS,
  captured_amount: 100,
  ...over,
});

/** The money of a manual authorization of 100 that was accepted and not touched since. */
export const anAuthorization = (over: Partial<TransactionMoney> = {}): TransactionMoney =>
  aSale({ capture_mode: 'manual', capture_ends_at: WINDOW_END, captured_amount: 0, ...over });

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
