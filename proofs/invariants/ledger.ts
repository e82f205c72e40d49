import { findDifferences } from '../../activities/audit-comparison';
import { connectDatabase } from '../../src/db/connection';
import { queryColumn, queryRows, type Database } from '../../src/db/query';
import { lastSettlement } from '../../src/db/orders/settlements';
import { allOrderIds } from '../../src/db/search/search-outbox';
import { createProcessorClient } from '../../src/processor/client';
import { withDatabaseName } from '../../test/support/database';
import { callSimulator, postControl, type RunningStack } from '../../test/support/stack';
import type { Invariant } from './invariant';

export const ledgerInvariant: Invariant = {
  name: 'ledger',
  title: "The record equals the processor's ledger, operation by operation, and nothing is open.",
  eventual: true,
  violations: ({ stack, simulator_postgres_url }) => ledgerDifferences(stack, 0, simulator_postgres_url),
};

/** What the record holds of one payment transaction. */
type Recorded = Record<'transaction_id' | 'order_id' | 'status', string> & { capture_mode: string | null } & Record<
    `${'captured' | 'voided' | 'refunded' | 'charged_back' | 'won_back' | 'reversed' | 'pending'}_amount` | 'amount',
    number
  >;

/** What the processor did: `follow_up_order_id` is null where it began by itself, and for the payment. */
type Booked = Record<'idempotency_key' | 'operation' | 'transaction_id' | 'project_id' | 'result', string> & {
  follow_up_order_id: string | null;
  amount: number;
};

type FollowUp = Record<'id' | 'kind' | 'status' | 'original_transaction_id' | 'requested_by', string> & {
  amount: number;
};

const OPEN = ['new', 'processing'];
/** Operations that the service asks for with the follow-up order's id. */
const ASKED = ['capture', 'void', 'refund', 'reversal'];

/**
 * Waits until nothing is open, and answers what differs then, in words; the audit must find nothing either. What waits
 * for its time at the processor happens now, and its faults end. `simulator_postgres_url`: where the processor's database is
 * not on the server of the record.
 */
export async function ledgerDifferences(
  place: Pick<RunningStack, 'postgres_url' | 'simulator_url' | 'simulator_control_key' | 'processor_key'>,
  within_ms = 180_000,
  simulator_postgres_url = withDatabaseName(place.postgres_url, 'simulator'),
): Promise<string[]> {
  const record = connectDatabase(place.postgres_url, { pool_max: 1 });
  const ledger = connectDatabase(simulator_postgres_url, { pool_max: 1 });
  const give_up = Date.now() + within_ms;
  try {
    await callSimulator(place, '/control/faults/', { method: 'DELETE' });
    for (;;) {
      await postControl(place, 'due', {});
      const compared = await compare(record, ledger);
      const differences = compared.length > 0 ? compared : await auditDifferences(place, record);
      if (differences.length === 0 || Date.now() > give_up) return differences;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  } finally {
    await Promise.all([record.destroy(), ledger.destroy()]);
  }
}

/** What the audit finds in all orders, as if all that has happened were old enough. */
async function auditDifferences(
  { simulator_url: url, processor_key: key }: Pick<RunningStack, 'simulator_url' | 'processor_key'>,
  db: Database,
): Promise<string[]> {
  const processor = createProcessorClient({ url, key, timeout_ms: 30_000 });
  const comparison = {
    until: Infinity,
    approved_before: Infinity,
    waits_since: 0,
    fetched_up_to: await lastSettlement(db),
  };
  const found: string[] = [];
  try {
    for await (const order_ids of allOrderIds(db, 250)) {
      const payments = 'select id from orders where id = any(:order_ids::uuid[]) and related_order_id is null';
      const ids = await queryColumn<string>(db, payments, { order_ids });
      const { differences } = await findDifferences({ db, processor }, ids, comparison);
      found.push(
        ...differences.map(({ kind, object_id, description }) => `audit: ${kind} ${object_id}: ${description}`),
      );
    }
    return found;
  } finally {
    await processor.close();
  }
}

async function compare(record: Database, ledger: Database): Promise<string[]> {
  // The ledger first: whatever is in the record by then and not in them is a difference for the next look.
  const booked = await queryRows<Booked>(
    ledger,
    'select idempotency_key, operation, transaction_id, project_id, follow_up_order_id, amount, result from operations order by sequence',
  );
  const projects = new Set(await queryColumn<string>(record, 'select id from projects'));
  const payments = await queryRows<Recorded>(
    record,
    `select t.id as transaction_id, t.order_id, t.capture_mode, t.status, t.amount, t.captured_amount,
       t.voided_amount, t.refunded_amount, t.charged_back_amount,
       t.won_back_amount, t.capture_pending_amount + t.void_pending_amount + t.refund_pending_amount as pending_amount,
       coalesce(back.amount, 0) as reversed_amount from transactions t join orders o on o.id = t.order_id left join (
         select rt.original_transaction_id as id, sum(r.amount)::bigint as amount from orders r join transactions rt on rt.order_id = r.id
         where r.kind = 'reversal' and r.status = 'completed' and rt.credit_debit = 'debit' group by 1) back on back.id = t.id where o.kind = 'payment'`,
  );
  const follow_ups = await queryRows<FollowUp>(
    record,
    `select o.id, o.kind, o.status, o.amount, o.requested_by, t.original_transaction_id from orders o join transactions t on t.order_id = o.id where o.kind <> 'payment'`,
  );
  const ours = booked.filter(({ project_id }) => projects.has(project_id));
  return [...ofPayments(payments, ours), ...ofFollowUps(follow_ups, ours), ...ofBooks(payments, follow_ups, ours)];
}

const isApproved = ({ result }: Booked) => result === 'approved';

/** Every confirmed amount has its operations, no more and no less. */
function ofPayments(payments: Recorded[], booked: Booked[]): string[] {
  const sums = new Map<string, number>();
  for (const { transaction_id, operation, amount } of booked.filter(isApproved)) {
    const key = `${transaction_id} ${operation}`;
    sums.set(key, (sums.get(key) ?? 0) + amount);
  }
  const charged = new Set(
    booked
      .filter((one) => isApproved(one) && ['sale', 'authorize'].includes(one.operation))
      .map(({ transaction_id }) => transaction_id),
  );
  return payments.flatMap((payment) => {
    const { transaction_id, capture_mode, status, amount, reversed_amount } = payment;
    const sum = (operation: string) => sums.get(`${transaction_id} ${operation}`) ?? 0;
    const was_accepted = status === 'accepted' || payment.voided_amount > 0;
    // A payment that was approved after its end stays ended, and is given back.
    const late = !was_accepted && reversed_amount > 0;
    const expected: [string, number, number][] = [
      ['charged', was_accepted || late ? amount : 0, sum(capture_mode === null ? 'sale' : 'authorize')],
      ['captured', payment.captured_amount, capture_mode === null && !late ? sum('sale') : sum('capture')],
      ['voided', payment.voided_amount, sum('void')],
      ['refunded', payment.refunded_amount, sum('refund')],
      ['charged back', payment.charged_back_amount, sum('chargeback')],
      ['won back', payment.won_back_amount, sum('chargeback_reversal')],
      ['reversed', reversed_amount, sum('reversal')],
      ['asked and not answered', payment.pending_amount, 0],
    ];
    const wrong = expected
      .filter(([, recorded, ledger]) => recorded !== ledger)
      .map(
        ([what, recorded, ledger]) =>
          `transaction ${transaction_id} (${status}): ${what} ${recorded}, in the ledger ${ledger}`,
      );
    return charged.has(transaction_id) === (was_accepted || late)
      ? wrong
      : [
          ...wrong,
          `transaction ${transaction_id} is ${status}, in the ledger ${charged.has(transaction_id) ? 'approved' : 'not approved'}`,
        ];
  });
}

/** Every follow-up order is over, and is what the processor says of it. */
function ofFollowUps(follow_ups: FollowUp[], booked: Booked[]): string[] {
  const by_order = new Map(
    booked.filter(({ follow_up_order_id }) => follow_up_order_id !== null).map((one) => [one.follow_up_order_id!, one]),
  );
  return follow_ups.flatMap(({ id, kind, status, amount, requested_by }) => {
    if (OPEN.includes(status)) return [`${kind} order ${id} is still ${status}`];
    if (requested_by === 'processor') return [];
    const entry = by_order.get(id);
    const told =
      entry === undefined
        ? 'nothing'
        : `${entry.operation} ${entry.result === 'approved' ? 'completed' : 'error'} ${entry.amount}`;
    return told === `${kind} ${status} ${amount}`
      ? []
      : [`${kind} order ${id} is ${status} with ${amount}, in the ledger ${told}`];
  });
}

/** Everything that was approved has its row. */
function ofBooks(payments: Recorded[], follow_ups: FollowUp[], booked: Booked[]): string[] {
  const transactions = new Set(payments.map(({ transaction_id }) => transaction_id));
  const orders = new Map(follow_ups.map((one) => [one.id, one]));
  return booked
    .filter(isApproved)
    .flatMap(({ idempotency_key, operation, transaction_id, follow_up_order_id, amount }) => {
      if (!transactions.has(transaction_id)) {
        return [`${operation} of ${amount} (${idempotency_key}) is of no transaction in the record`];
      }
      if (!ASKED.includes(operation)) return [];
      return orders.get(follow_up_order_id ?? '')?.original_transaction_id === transaction_id
        ? []
        : [`${operation} of ${amount} (${idempotency_key}) is of no order in the record`];
    });
}
