import type { Operation } from '../context';
import { captureOrVoid } from '../request-follow-up';
import type { Services } from '../services';

/**
 * Voids a part of an authorization (rules 8.3). Returns the void order; throws CanNotCancelTransaction,
 * and ValidationError for more than is left.
 */
export const voidTransactionAmount =
  (services: Services): Operation<'voidTransactionAmount'> =>
  (context, { params, body }) =>
    captureOrVoid(services, context, { kind: 'void', ...params, ...body });
