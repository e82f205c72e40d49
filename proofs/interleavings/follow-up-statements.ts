import { FINAL_TRANSACTION_STATUSES } from '../../src/domain/transitions';
import type { SandboxRows } from './rows';
import { NO_AMOUNTS } from '../../test/support/domain';
import { NEW_ORDER, NEW_TRANSACTION, mayBegin, type Claim, type Statement } from './statement';

interface Payment {
  original_order_id: string;
  original_transaction_id: string;
}

type FollowUpBindings = Claim &
  Payment & {
    id: string;
    kind: string;
    amount: number;
    transaction_id: string;
    requested_by: string;
    payment_method: string;
  };

/** Statements of captures, voids, refunds and reversals. */
export function followUpStatements(rowsOf: () => SandboxRows): Statement[] {
  return [
    {
      name: 'lock payment',
      is: /^select version from orders/,
      run({ original_order_id }: Payment) {
        const order = rowsOf().orders[original_order_id];
        return order?.kind === 'payment' ? [{ version: order.version }] : [];
      },
    },
    {
      name: 'lock money',
      is: /^select payment_method, status, amount/,
      run({ original_order_id, original_transaction_id }: Payment) {
        const row = rowsOf().transactions[original_transaction_id];
        if (row?.order_id !== original_order_id) return [];
        return [{ ...row, capture_ends_at: row.capture_ends_at === null ? null : Date.parse(row.capture_ends_at) }];
      },
    },
    {
      name: 'insert follow-up',
      is: /^with claim as [^]*insert into orders \(id, kind/,
      run: (bindings: FollowUpBindings) => insertFollowUp(rowsOf(), bindings),
    },
    {
      name: 'change amounts',
      is: /^update transactions set modified/,
      run({ original_transaction_id, ...changes }: Payment & Record<string, unknown>) {
        const row = rowsOf().transactions[original_transaction_id]!;
        for (const [name, change] of Object.entries(changes)) {
          if (name in NO_AMOUNTS) row[name as keyof typeof NO_AMOUNTS] += change as number;
        }
        return [];
      },
    },
    {
      name: 'find releases',
      is: /^select 1 from orders\s+where related_order_id/,
      run: ({ original_order_id }: Payment) =>
        Object.values(rowsOf().orders).filter(
          ({ related_order_id, kind, requested_by }) =>
            related_order_id === original_order_id && kind === 'void' && requested_by === 'service',
        ),
    },
    {
      name: 'find follow-ups',
      is: /^select f\.id, f\.project_id/,
      run({ ids, transaction_id }: { ids?: string[]; transaction_id?: string }) {
        const { orders, transactions } = rowsOf();
        return Object.values(transactions).flatMap(({ id, order_id, original_transaction_id }) => {
          const order = orders[order_id]!;
          if (order.kind === 'payment' || !(ids?.includes(order_id) ?? id === transaction_id)) return [];
          const { project_id, kind, requested_by, amount, related_order_id: original_order_id } = order;
          return [
            {
              id: order_id,
              project_id,
              kind,
              requested_by,
              amount,
              original_order_id,
              original_transaction_id,
              clock_offset_ms: 0,
            },
          ];
        });
      },
    },
  ];
}

function insertFollowUp(rows: SandboxRows, bindings: FollowUpBindings): unknown[] {
  const { id, kind, amount, transaction_id, requested_by, original_order_id, original_transaction_id } = bindings;
  const payment = rows.orders[original_order_id];
  if (payment === undefined || !mayBegin(rows, bindings)) return [];
  const { project_id, currency } = payment;
  const order = { id, kind, amount, requested_by, project_id, currency, related_order_id: original_order_id };
  const rest = { status: 'new', version: 0, attempts_max: 1, charged_by: null, expires_at: null } as const;
  rows.orders[id] = { ...NEW_ORDER, ...order, ...rest };
  rows.transactions[transaction_id] = {
    ...NEW_TRANSACTION,
    ...{ id: transaction_id, order_id: id, attempt: 1, original_transaction_id, amount, currency, status: 'new' },
    payment_method: bindings.payment_method,
  };
  payment.version += 1;
  return [{}];
}

interface WatchBindings {
  transaction_id: string;
  poll_at: string;
  began: string;
  is_sign: boolean;
}

/** Statements of possible late approvals. */
export function watchStatements(rowsOf: () => SandboxRows): Statement[] {
  return [
    {
      name: 'insert watch',
      is: /^insert into late_approval_watches/,
      run({ transaction_id, poll_at, began, is_sign }: WatchBindings) {
        const { watches } = rowsOf();
        const watch = (watches[transaction_id] ??= { transaction_id, poll_at, polls: 0, began });
        if (!is_sign || (watch.polls === 0 && watch.poll_at > began)) return [];
        watch.poll_at = watch.poll_at < poll_at ? watch.poll_at : poll_at;
        watch.began = began;
        return [];
      },
    },
    {
      name: 'find watch',
      is: /^select w\.transaction_id, floor/,
      run({ transaction_id }: WatchBindings) {
        const watch = rowsOf().watches[transaction_id];
        return watch === undefined
          ? []
          : [{ ...watch, poll_at: Date.parse(watch.poll_at), began: Date.parse(watch.began) }];
      },
    },
    {
      name: 'postpone watch',
      is: /^update late_approval_watches/,
      run({ transaction_id, poll_at }: WatchBindings) {
        const watch = rowsOf().watches[transaction_id];
        if (watch === undefined) return [];
        watch.poll_at = watch.poll_at > poll_at ? watch.poll_at : poll_at;
        watch.polls += 1;
        return [];
      },
    },
    {
      name: 'end watch of reversed payment',
      is: /^delete from late_approval_watches/,
      run({ transaction_id }: WatchBindings) {
        delete rowsOf().watches[transaction_id];
        return [];
      },
    },
    {
      name: 'end watch',
      is: /^with o as \(\s+select orders\.id from transactions/,
      run({ transaction_id }: WatchBindings) {
        const { watches, transactions, orders } = rowsOf();
        if (watches[transaction_id] === undefined) return [];
        delete watches[transaction_id];
        const order = orders[transactions[transaction_id]!.order_id];
        if (order !== undefined) order.version += 1;
        return [];
      },
    },
    {
      name: 'find ended payment',
      is: /^select t\.order_id as original_order_id/,
      run({ transaction_id, with_declined }: { transaction_id: string; with_declined: boolean }) {
        const { transactions, orders, events, watches } = rowsOf();
        const row = transactions[transaction_id];
        const order = row && orders[row.order_id];
        if (row === undefined || order?.kind !== 'payment' || row.amount === 0) return [];
        const was_accepted = events.some((one) => one.transaction_id === transaction_id && one.event === 'accepted');
        const counts = row.status !== 'error' || with_declined || watches[transaction_id] !== undefined;
        if (was_accepted || !FINAL_TRANSACTION_STATUSES.includes(row.status) || !counts) return [];
        const { amount, currency, capture_mode, charged_back_amount } = row;
        const { id: original_order_id, project_id } = order;
        return [
          {
            original_order_id,
            original_transaction_id: row.id,
            project_id,
            clock_offset_ms: 0,
            amount,
            currency,
            capture_mode,
            charged_back_amount,
            is_chargeback_announced: false,
          },
        ];
      },
    },
  ];
}
