import { ApplicationFailure } from '@temporalio/workflow';
import type { Settlement } from '../src/domain/outcome';
import { ServiceError, validationError } from '../src/errors';

/** A refusal as Temporal carries it; src/temporal turns it back into the ServiceError by its type. */
export function refusal({ error, value }: ServiceError): ApplicationFailure {
  return ApplicationFailure.create({ type: error, message: value, nonRetryable: true });
}

/** Characters of a reason; long enough for a ticket and a sentence. */
const REASON_LENGTH_MAX = 500;

/** Refuses an operator's input that is no settlement: it was typed by hand. */
export function requireSettlement(input: Settlement): void {
  const { outcome, reason } = (input ?? {}) as Partial<Record<keyof Settlement, unknown>>;
  if (outcome !== 'approved' && outcome !== 'declined') {
    throw refusal(validationError('outcome', 'Has to be approved or declined.'));
  }
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > REASON_LENGTH_MAX) {
    throw refusal(validationError('reason', `Has to say why, in at most ${REASON_LENGTH_MAX} characters.`));
  }
}

/** The refusal of a settlement when the outcome is known, or no charge is under way. */
export function notAwaited(state: string): ApplicationFailure {
  return refusal(new ServiceError('Conflict', `There is no outcome to settle. ${state}`));
}
