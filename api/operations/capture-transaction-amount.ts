import type { Operation } from '../context';
import { captureOrVoid } from '../request-follow-up';
import type { Services } from '../services';

/**
 * Captures a part of an authorization (rules 8.3). Returns the capture order; throws Conflict, and ValidationError for
 * more than is left.
 */
export const captureTransactionAmount =
  (services: Services): Operation<'captureTransactionAmount'> =>
  (context, { params, body }) =>
    captureOrVoid(services, context, { kind: 'capture', ...params, ...body });
