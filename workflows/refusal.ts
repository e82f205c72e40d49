import { ApplicationFailure } from '@temporalio/workflow';
import { REASON_LENGTH_MAX, SETTLED_OUTCOMES } from '../src/domain/transaction';
import { ServiceError, validationError } from '../src/errors';
import type { SettleByHandInput } from './messages';

/** A refusal as Temporal carries it; src/temporal turns it back into the ServiceError by its type. */
export function refusal({ error, value }: ServiceError): ApplicationFailure {
  return ApplicationFailure.create({ type: error, message: value, nonRetryable: true });
}

const LENGTH_MAX = { transaction_id: 36, reason: REASON_LENGTH_MAX, operator: 255 } as const;

const EXPECTED = {
  transaction_id: 'the id of the transaction',
  reason: 'a reason',
  operator: "the operator's name",
} as const;

/** Refuses an operator's input that is no settlement: it was typed by hand. */
export function requireSettlement(input: SettleByHandInput): void {
  const { outcome, ...texts } = (input ?? {}) as Partial<Record<keyof SettleByHandInput, unknown>>;
  if (!SETTLED_OUTCOMES.some((one) => one === outcome)) {
    throw refusal(validationError('outcome', 'Expected approved or declined.'));
  }
  for (const field of ['transaction_id', 'reason', 'operator'] as const) {
    const text = texts[field];
    const length_max = LENGTH_MAX[field];
    if (typeof text !== 'string' || text.trim() === '' || text.length > length_max) {
      throw refusal(validationError(field, `Expected ${EXPECTED[field]}, 1 to ${length_max} characters.`));
    }
  }
}

/** The refusal of a settlement when the outcome is known, or no charge is under way. */
export function notAwaited(state: string): ApplicationFailure {
  return refusal(new ServiceError('Conflict', `There is no outcome to settle. ${state}`));
}
