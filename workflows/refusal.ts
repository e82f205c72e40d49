import { ApplicationFailure } from '@temporalio/workflow';
import { ServiceError } from '../src/errors';

/** A refusal as Temporal carries it; src/temporal turns it back into the ServiceError by its type. */
export function refusal({ error, value }: ServiceError): ApplicationFailure {
  return ApplicationFailure.create({ type: error, message: value, nonRetryable: true });
}

/** The refusal of a manual outcome when the outcome is known, or no charge is under way. */
export function notAwaited(state: string): ApplicationFailure {
  return refusal(new ServiceError('Conflict', `There is no outcome to set. ${state}`));
}
