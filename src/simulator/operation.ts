import type { OperationRequest, OperationResult } from '../processor/wire';
import type { ScenarioOutcome } from './scenarios';

/** An operation as it is stored. */
export interface OperationRow {
  sequence: string;
  idempotency_key: string;
  fingerprint: string | null;
  operation: OperationResult['operation'];
  order_id: string;
  transaction_id: string;
  follow_up_order_id: string | null;
  project_id: string;
  is_test: boolean;
  /** bigint: pg gives text. */
  amount: string;
  currency: string;
  vault_token: string | null;
  scenario: string | null;
  result: OperationResult['result'];
  response_code: string | null;
  three_ds: OperationResult['three_ds'] | null;
  return_url: string | null;
  challenge_id: string | null;
  challenge_attempts: number;
  due: Date | null;
  next_operation: 'chargeback' | 'chargeback_reversal' | null;
  occurred: Date;
  requests: number;
  /** bigint: pg gives text. */
  settlement: string | null;
}

/** An operation that the processor initiates later. */
export interface Next {
  operation: 'chargeback' | 'chargeback_reversal';
  due: Date;
}

/** A requested operation with its outcome. */
export interface RecordedOperation {
  idempotency_key: string;
  operation: OperationRequest;
  scenario: string | undefined;
  outcome: ScenarioOutcome;
  next: Next | undefined;
  /** Earlier arrivals of the key that left no row. */
  earlier_requests: number;
  now: Date;
}
