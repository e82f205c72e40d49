import { CURRENCY_CODES } from '../../domain/currency';
import { FINAL_TRANSACTION_STATUSES, type TransactionStatus } from '../../domain/transitions';
import { toIsoTime } from '../../time';
import { epochMsSql, objectOf, type RowOf } from '../columns';
import {
  modifiedAtSql,
  nextVersionSql,
  queryRow,
  queryRows,
  requireRow,
  sqlList,
  type Database,
  type SqlTransaction,
} from '../query';
import { readPage, type ListPage, type PageRequest } from '../pages';
import { CLOCK_OFFSET } from '../sandbox-clocks/sandbox-clocks';
import { IS_APPROVED } from './transactions';

/** The amount that the processor paid out for a transaction, or took back, and its fee; minor units. */
export interface SettledTransaction {
  /** Counts the processor's settlements. */
  number: number;
  transaction_id: string;
  settlement_currency: string;
  settlement_amount: number;
  fee_currency?: string | undefined;
  fee_amount?: number | undefined;
}

/** A transaction that was settled although it is recorded as unpaid. */
export interface UnpaidTransaction {
  transaction_id: string;
  order_id: string;
  status: TransactionStatus;
  is_payment: boolean;
}

/** The number of the last settlement that was fetched. */
export async function lastSettlement(db: Database): Promise<number> {
  const progress = await queryRow<{ last_number: number }>(db, 'select last_number from settlement_progress');
  return progress?.last_number ?? 0;
}

/**
 * Records the settlements fetched after the number `after`, the new position and the new version of each order, in one
 * SQL transaction. Changes no amount and no status. Repeat-safe: does nothing when another fetch has recorded the page.
 * A settlement of a transaction that ended unpaid or was refused is evidence that money moved: a watch is written, or
 * begins anew, so that the processor is polled (rules 10.18). Returns how many transactions were settled, including earlier settlements
 * that waited, and which of the transactions are recorded as unpaid. `now` in epoch milliseconds.
 */
export async function recordSettlements(
  db: Database,
  { after, settlements, now }: { after: number; settlements: readonly SettledTransaction[]; now: number },
): Promise<{ settled: number; unpaid: UnpaidTransaction[] }> {
  return await db.transaction(async (trx) => {
    const progress = await queryRows(
      trx,
      'update settlement_progress set last_number = :last where last_number = :after returning last_number',
      { after, last: settlements.at(-1)?.number ?? after },
    );
    if (progress.length === 0) return { settled: 0, unpaid: [] };
    await queryRows(
      trx,
      `insert into open_settlements
         (number, transaction_id, settlement_currency, settlement_amount, fee_currency, fee_amount, fetched)
       select number, transaction_id, settlement_currency, settlement_amount, fee_currency, fee_amount, :now
       from json_populate_recordset(null::open_settlements, :settlements::json)`,
      { settlements: JSON.stringify(settlements), now: toIsoTime(now) },
    );
    // Skips locked orders until the next fetch: a payment must not wait for this statement, nor deadlock with it.
    const settled = await queryRows<UnpaidTransaction & { is_paid: boolean }>(
      trx,
      `with usable as not materialized (
         select * from open_settlements
         -- Index, report and sums show amounts by their currency: one that they could not show waits for an operator.
         where settlement_currency = any(:currencies)
           and (fee_amount is null and fee_currency is null or fee_amount is not null and fee_currency = any(:currencies))
       ), locked as materialized (
         select s.number, t.id as transaction_id, o.id as order_id, t.status, t.amount, o.kind = 'payment' as is_payment,
           ${IS_APPROVED} as is_paid
         from usable s join transactions t on t.id = s.transaction_id join orders o on o.id = t.order_id
         where t.settlement_currency is null
           -- Of several for one transaction the first counts; the others wait for an operator.
           and s.number = (select min(first.number) from usable first where first.transaction_id = s.transaction_id)
         for no key update of o, t skip locked
       ), t as (
         update transactions set
           settlement_currency = s.settlement_currency,
           settlement_amount = s.settlement_amount,
           fee_currency = s.fee_currency,
           fee_amount = s.fee_amount,
           ${modifiedAtSql('transactions')}
         from locked join open_settlements s on s.number = locked.number
         where transactions.id = locked.transaction_id
       ), o as (
         update orders set ${nextVersionSql('orders')}
         where id in (select order_id from locked)
       ), w as (
         insert into late_approval_watches (transaction_id, poll_at, began)
         select transaction_id, object_now, object_now
         from locked join orders o on o.id = locked.order_id
           cross join lateral (select :now::timestamptz + ${CLOCK_OFFSET} * interval '1 millisecond' as object_now) clock
         where not locked.is_paid and locked.amount > 0 and locked.status in ${sqlList(FINAL_TRANSACTION_STATUSES)}
         on conflict (transaction_id) do update set
           poll_at = least(late_approval_watches.poll_at, excluded.poll_at),
           began = excluded.began
       )
       delete from open_settlements using locked where open_settlements.number = locked.number
       returning locked.transaction_id, locked.order_id, locked.status, locked.is_payment, locked.is_paid`,
      { now: toIsoTime(now), currencies: CURRENCY_CODES },
    );
    return { settled: settled.length, unpaid: settled.filter(({ is_paid }) => !is_paid) };
  });
}

/** A settlement that is not written to its transaction, as its row has it. */
export interface WaitingSettlement extends RowOf<SettledTransaction> {
  /** ISO 8601. */
  fetched: string;
}

/** The settlements that wait for their transaction, the last fetched first. */
export async function listWaitingSettlements(db: Database, page: PageRequest): Promise<ListPage<WaitingSettlement>> {
  const key = [['number', 'bigint']] as const;
  return await readPage(db, page, { select: 'select * from open_settlements', key });
}

/**
 * Until the end of the SQL transaction no fetch records settlements, and nobody else discards one, so that what waits
 * stays as it is read.
 */
export async function lockSettlements(trx: SqlTransaction): Promise<void> {
  await queryRows(trx, 'select 1 from settlement_progress for update');
}

/** As `lockSettlements`, and writes that all were fetched. */
export async function noteSettlementsFetched(trx: SqlTransaction): Promise<void> {
  await queryRows(trx, 'update settlement_progress set fetched = clock_timestamp()');
}

/**
 * Removes a settlement that waits, after `lockSettlements`, and returns it; undefined: none waits with this number. The
 * order of its transaction gets a new version, so that the audit compares it. `now` in epoch milliseconds.
 */
export async function discardSettlement(
  trx: SqlTransaction,
  number: number,
  now: number,
): Promise<WaitingSettlement | undefined> {
  return await queryRow<WaitingSettlement>(
    trx,
    `with discarded as (
       delete from open_settlements where number = :number returning *
     ), o as (
       update orders set ${nextVersionSql('orders')}
       where id in (select t.order_id from discarded join transactions t on t.id = discarded.transaction_id)
     )
     select * from discarded`,
    { number, now: toIsoTime(now) },
  );
}

/** Settlements that wait for their transaction, in all. */
export interface OpenSettlements {
  waiting: number;
  /** When the oldest was fetched, epoch milliseconds. */
  waiting_since?: number;
}

/** How many settlements wait for their transaction, and since when. */
export async function openSettlements(db: Database): Promise<OpenSettlements> {
  const open = await requireRow<RowOf<OpenSettlements>>(
    db,
    `select count(*) as waiting, ${epochMsSql('min(fetched)')} as waiting_since from open_settlements`,
  );
  return objectOf(open);
}
