import { reasonsInWords } from '../../src/domain/attention';
import { OPEN_ATTEMPT_STATUSES, OPEN_ORDER_STATUSES } from '../../src/domain/transitions';
import { followUpStatements, watchStatements } from './follow-up-statements';
import { NEW_ORDER, NEW_TRANSACTION, mayBegin, type Claim, type Statement } from './statement';
import type { OrderRow, SandboxRows, TransactionRow } from './rows';

/** All statements of orders and follow-up orders, on rows in memory. */
export function statementsOf(rowsOf: () => SandboxRows): Statement[] {
  return [
    ...paymentStatements(rowsOf),
    ...moveStatements(rowsOf),
    ...followUpStatements(rowsOf),
    ...watchStatements(rowsOf),
  ];
}

const transactionsOf = ({ transactions }: SandboxRows, order_id: string) =>
  Object.values(transactions)
    .filter((one) => one.order_id === order_id)
    .toSorted((a, b) => a.attempt - b.attempt);

/** An instant as `epochMsSql` answers it. */
const epoch = (text: string | null): number | null => (text === null ? null : Date.parse(text));

/** The end of the time for paying as `find order` answers it; follow-up orders never expire. */
const end = (text: string | null): number => epoch(text) ?? Number.MAX_SAFE_INTEGER;

/** As `find order` answers. */
function orderRow(rows: SandboxRows, order: OrderRow): object {
  const { id, project_id, status, version, amount, currency, attempts_max, charged_by, ended, attention } = order;
  const closings = Object.values(rows.orders).filter(
    ({ kind, related_order_id, requested_by }) =>
      related_order_id === id && ['capture', 'void'].includes(kind) && requested_by === 'service',
  );
  return {
    ...{ id, project_id, status, version, amount, currency, attempts_max, charged_by, ended, attention },
    expires_at: end(order.expires_at),
    clock_offset_ms: 0,
    payment_link: null,
    transactions: transactionsOf(rows, id).map((one) => transactionFields(rows, one)),
    closings:
      closings.length === 0
        ? null
        : closings.map((one) => ({ id: one.id, kind: one.kind, status: one.status, amount: one.amount })),
    deliveries: rows.deliveries.filter((one) => one.order_id === id && one.status === 'new').map(({ n }) => n),
  };
}

function transactionFields(rows: SandboxRows, row: TransactionRow): object {
  const { id, attempt, status, amount, capture_mode, capture_period, captured_amount, voided_amount } = row;
  const { capture_pending_amount, void_pending_amount, answered_amount, answered_currency } = row;
  const is_by_hand = rows.events.some(({ transaction_id, source }) => transaction_id === id && source === 'operator');
  return {
    id,
    attempt,
    status,
    charge_began: row.charge_began || null,
    outcome_set_by_hand: is_by_hand || null,
    expires_at: end(row.expires_at),
    poll_at: epoch(row.poll_at),
    polls: row.polls || null,
    late_poll_at: epoch(rows.watches[id]?.poll_at ?? null),
    answered: answered_currency === null ? null : { amount: answered_amount, currency: answered_currency },
    charged_back: row.charged_back_amount - row.won_back_amount || null,
    capture:
      capture_mode === null
        ? null
        : {
            ...{ status, amount, capture_mode, capture_period, captured_amount, voided_amount },
            ...{ capture_pending_amount, void_pending_amount },
            capture_ends_at: epoch(row.capture_ends_at),
            freed: freedOf(rows, row),
          },
  };
}

/** Voids of the merchant that were refused after the window of a delayed authorization. */
function freedOf(rows: SandboxRows, row: TransactionRow): number {
  if (row.capture_mode !== 'delayed' || row.status !== 'accepted') return 0;
  const refused = Object.values(rows.transactions).filter((one) => {
    const order = rows.orders[one.order_id]!;
    return (
      one.original_transaction_id === row.id &&
      order.kind === 'void' &&
      order.requested_by === 'merchant' &&
      rows.events.some(
        ({ transaction_id, event, noticed }) =>
          transaction_id === one.id && event === 'error' && noticed >= row.capture_ends_at!,
      )
    );
  });
  return refused.reduce((sum, { amount }) => sum + amount, 0);
}

type Written = Claim & { transaction: string; created: string };

function paymentStatements(rowsOf: () => SandboxRows): Statement[] {
  return [
    {
      name: 'insert order',
      is: /^insert order$/,
      run(bindings: Written & { order: string }) {
        const rows = rowsOf();
        const order = JSON.parse(bindings.order) as OrderRow;
        if (!mayBegin(rows, bindings) || rows.orders[order.id] !== undefined) return [{ inserted: 0 }];
        rows.orders[order.id] = { ...NEW_ORDER, ...order };
        const transaction = JSON.parse(bindings.transaction) as TransactionRow;
        if (transaction.id !== undefined) rows.transactions[transaction.id] = { ...NEW_TRANSACTION, ...transaction };
        return [{ inserted: 1 }];
      },
    },
    {
      name: 'begin attempt',
      is: /^begin attempt$/,
      run(bindings: Written & { order_id: string; version: number; transaction_id: string }) {
        const rows = rowsOf();
        const order = rows.orders[bindings.order_id];
        const there = rows.transactions[bindings.transaction_id];
        const has_begun = there !== undefined && (there.charge_began || there.status !== 'new');
        if (order?.version !== bindings.version || has_begun || !mayBegin(rows, bindings)) return [{ begun: 0 }];
        order.version += 1;
        const row = JSON.parse(bindings.transaction) as TransactionRow;
        const { payment_method, payment_method_details } = row;
        rows.transactions[row.id] =
          there === undefined
            ? { ...NEW_TRANSACTION, ...row }
            : { ...there, charge_began: true, payment_method, payment_method_details };
        return [{ begun: 1 }];
      },
    },
    {
      name: 'find order',
      is: /^find order$/,
      run({ order_id }: { order_id: string }) {
        const rows = rowsOf();
        const order = rows.orders[order_id];
        return order === undefined ? [] : [orderRow(rows, order)];
      },
    },
    {
      name: 'find payment',
      is: /^find payment$/,
      run({ transaction_id }: { transaction_id: string }) {
        const row = rowsOf().transactions[transaction_id];
        if (row === undefined) return [];
        const { order_id, capture_mode, payment_method_details } = row;
        const { project_id } = rowsOf().orders[order_id]!;
        const payment = {
          order_id,
          transaction_id,
          project_id,
          is_test: true,
          capture_mode,
          receiver_account_token: null,
        };
        return [{ ...payment, payment_method_details: payment_method_details ?? {} }];
      },
    },
    {
      name: 'change fields',
      is: /^update orders set\s+\(merchant_order_id/,
      run({ order_id }: { order_id: string }) {
        const order = rowsOf().orders[order_id];
        if (order === undefined || !OPEN_ORDER_STATUSES.includes(order.status)) return [];
        order.version += 1;
        return [{ id: order_id }];
      },
    },
  ];
}

interface MoveBindings {
  order_id: string;
  version: number;
  order_sources: string[];
  order_to: OrderRow['status'];
  ended: string | null;
  attention: string | null;
  status_changed: boolean;
  transaction_id: string | null;
  transaction_to: TransactionRow['status'];
  transaction_sources: string[];
  capture_ends_at: string | null;
  payment_method: string | null;
  payment_method_details: string | null;
  captured_amount: number | null;
  poll_at: string | null;
  source: string;
  now: string;
  late_approval_poll_at: string | null;
  is_back_from_issuer: boolean;
}

function moveStatements(rowsOf: () => SandboxRows): Statement[] {
  return [
    { name: 'move order', is: /^move order$/, run: (bindings: MoveBindings) => [move(rowsOf(), bindings)] },
    {
      name: 'record poll',
      is: /^update transactions set polls = polls/,
      run(bindings: { transaction_id: string; poll_at: string | null; is_unknown: boolean }) {
        const row = rowsOf().transactions[bindings.transaction_id];
        if (row === undefined || !OPEN_ATTEMPT_STATUSES.includes(row.status)) return [];
        row.polls += 1;
        row.poll_at = bindings.poll_at ?? row.poll_at;
        return [{ id: row.id }];
      },
    },
    {
      name: 'set attention',
      is: /^with changed as \(\s+update orders set attention/,
      run({ order_id, attention }: { order_id: string; attention: string }) {
        const order = rowsOf().orders[order_id];
        if (order !== undefined) order.attention = attention;
        return [];
      },
    },
  ];
}

/** Moves an order and its transaction, both or neither. */
function move(rows: SandboxRows, to: MoveBindings): { moved: number; delivery: number | null } {
  const nothing = { moved: 0, delivery: null };
  const order = rows.orders[to.order_id];
  if (order === undefined || order.version !== to.version || !to.order_sources.includes(order.status)) return nothing;
  const row = to.transaction_id === null ? undefined : rows.transactions[to.transaction_id];
  if (to.transaction_id !== null) {
    if (row === undefined || !to.transaction_sources.includes(row.status)) return nothing;
    row.status = to.transaction_to;
    row.poll_at = to.poll_at;
    if (to.is_back_from_issuer) row.polls = 0;
    row.captured_amount = to.captured_amount ?? row.captured_amount;
    row.capture_ends_at = to.capture_ends_at ?? row.capture_ends_at;
    row.payment_method = to.payment_method ?? row.payment_method;
    const details = to.payment_method_details;
    if (details !== null) row.payment_method_details = JSON.parse(details) as object;
    rows.events.push({ transaction_id: row.id, event: to.transaction_to, source: to.source, noticed: to.now });
    const poll_at = to.late_approval_poll_at;
    if (poll_at !== null) rows.watches[row.id] ??= { transaction_id: row.id, poll_at, polls: 0, began: to.now };
  }
  order.status = to.order_to;
  order.ended = to.ended;
  order.attention = reasonsInWords([order.attention ?? undefined, to.attention ?? undefined]) ?? null;
  order.version += 1;
  const payment = order.related_order_id === null ? undefined : rows.orders[order.related_order_id];
  if (payment !== undefined) payment.version += 1;
  if (!to.status_changed) return { moved: 1, delivery: null };
  const n = rows.deliveries.filter(({ order_id }) => order_id === order.id).length + 1;
  rows.deliveries.push({ order_id: order.id, n, status: 'new' });
  return { moved: 1, delivery: n };
}
