import type { LedgerEntry, OperationResult } from '../processor/wire';
import { settlementOf } from './amounts';
import { RESPONSE_CODES, type ResponseCode } from './scenarios';
import type { OperationRow } from './store';

/** An operation as the wire shows it, in the state it has now. */
export function presentOperation(row: OperationRow, public_url: string): OperationResult {
  return {
    ...presentEntry(row),
    ...(row.response_code !== null && { response_code_description: RESPONSE_CODES[row.response_code as ResponseCode] }),
    ...(row.result === 'challenge' &&
      row.challenge_id !== null && { challenge_url: `${public_url}/challenge/${row.challenge_id}/` }),
    ...(row.three_ds && { three_ds: row.three_ds }),
    ...settlement(row),
  };
}

/** An operation as the ledger shows it. */
export function presentLedgerEntry(row: OperationRow): LedgerEntry {
  return { ...presentEntry(row), requests: row.requests };
}

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

function settlement(row: OperationRow): Pick<OperationResult, 'settlement'> {
  const settled = row.result === 'approved' ? settlementOf(row.operation, Number(row.amount)) : undefined;
  return settled ? { settlement: { settlement_currency: row.currency, fee_currency: row.currency, ...settled } } : {};
}
