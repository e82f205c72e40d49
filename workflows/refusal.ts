import { ApplicationFailure } from '@temporalio/workflow';
import type { ServiceError } from '../src/errors';

/** A refusal as Temporal carries it; src/temporal turns it back into the ServiceError by its type. */
export function refusal({ error, value }: ServiceError): ApplicationFailure {
  return ApplicationFailure.create({ type: error, message: value, nonRetryable: true });
}
