import { Router } from 'express';
import { z } from 'zod';
import type { LedgerEntry, OperationResult, ReportedOperation, SentTotal, Settlement, Total } from '../processor/wire';
import { settlementOf } from './amounts';
import { parse } from './refusal';
import { RESPONSE_CODES, type ResponseCode } from './scenarios';
import type { OperationRow } from './operation';
import type { Count, Store } from './store';

const querySchema = z.object({
  transaction_id: z.uuid().optional(),
  order_id: z.uuid().optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
  /** Idempotency key of the last entry of the page before. */
  after: z.string().min(1).max(600).optional(),
});

/** `GET /ledger/`: the operations of the processor, oldest first; the next page is in the `Link` header. */
export function ledger(store: Store): Router {
  const router = Router();
  router.get('/', async (req, res) => {
    const { limit, ...filter } = parse(querySchema, req.query);
    const rows = await store.ledger({ ...filter, limit: limit + 1 });
    const entries = rows.slice(0, limit).map(presentLedgerEntry);
    const last = entries.at(-1);
    if (rows.length > limit && last) {
      const next = new URLSearchParams({ ...withoutAbsent(filter), limit: String(limit), after: last.idempotency_key });
      res.set('Link', `<${req.protocol}://${req.get('host') ?? ''}${req.baseUrl}/?${next}>; rel="next"`);
    }
    res.json(entries);
  });
  return router;
}

function withoutAbsent(filter: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** An operation as the wire shows it, in the state it has now. */
export function presentOperation(row: OperationRow, public_url: string): OperationResult {
  return {
    ...presentEntry(row),
    ...(row.response_code !== null && { response_code_description: RESPONSE_CODES[row.response_code as ResponseCode] }),
    ...(row.result === 'challenge' &&
      row.challenge_id !== null && { challenge_url: `${public_url}/challenge/${row.challenge_id}/` }),
    ...(row.three_ds && { three_ds: row.three_ds }),
  };
}

/** An operation as the ledger shows it. */
export function presentLedgerEntry(row: OperationRow): LedgerEntry {
  return { ...presentEntry(row), requests: row.requests };
}

/** A settled operation as the wire shows its settlement. */
export function presentSettlement(row: OperationRow): Settlement {
  const { operation, idempotency_key, order_id, transaction_id, follow_up_order_id } = presentEntry(row);
  return {
    operation,
    idempotency_key,
    order_id,
    transaction_id,
    ...(follow_up_order_id !== undefined && { follow_up_order_id }),
    ...presentPayout(row),
  };
}

function presentPayout({ operation, settlement, amount, currency }: OperationRow) {
  const { settlement_amount, fee_amount } = settlementOf(operation, Number(amount));
  return {
    number: Number(settlement),
    settlement_currency: currency,
    settlement_amount,
    ...(fee_amount > 0 && { fee_currency: currency, fee_amount }),
  };
}

/** An operation as a report shows it. */
export function presentReported(row: OperationRow): ReportedOperation {
  const { response_code: _code, ...entry } = presentEntry(row);
  const { sequence, project_id, settlement } = row;
  return {
    number: Number(sequence),
    project_id,
    ...entry,
    ...(settlement !== null && { settlement: presentPayout(row) }),
  };
}

/** The totals of operations that were counted by amount, as the wire shows them. */
export function presentTotals(counts: readonly Count[]): SentTotal[] {
  const totals = new Map<string, Total>();
  for (const { project_id, operation, currency, amount, count, settled } of counts) {
    const key = [project_id, operation, currency].join(' ');
    const total = totals.get(key) ?? {
      ...{ project_id, operation, currency },
      ...{ amount: 0n, settlement_amount: 0n, fee_amount: 0n },
    };
    const { settlement_amount, fee_amount } = settlementOf(operation, Number(amount));
    total.amount += BigInt(count) * BigInt(amount);
    total.settlement_amount += BigInt(settled) * BigInt(settlement_amount);
    total.fee_amount += BigInt(settled) * BigInt(fee_amount);
    totals.set(key, total);
  }
  return [...totals.values()].map(({ amount, settlement_amount, fee_amount, ...of }) => ({
    ...of,
    amount: presentSum(amount),
    settlement_amount: presentSum(settlement_amount),
    fee_amount: presentSum(fee_amount),
  }));
}

const presentSum = (sum: bigint) => (sum > Number.MAX_SAFE_INTEGER ? String(sum) : Number(sum));

function presentEntry(row: OperationRow) {
  return {
    operation: row.operation,
    idempotency_key: row.idempotency_key,
    order_id: row.order_id,
    transaction_id: row.transaction_id,
    ...(row.follow_up_order_id !== null && { follow_up_order_id: row.follow_up_order_id }),
    amount: Number(row.amount),
    currency: row.currency,
    result: row.result,
    ...(row.response_code !== null && { response_code: row.response_code }),
    occurred: row.occurred.toISOString(),
  };
}
