import type { MerchantOperation, MerchantServices } from '../merchant';
import { captureOrVoid } from '../requests/request-follow-up';

/**
 * Voids a part of an authorization (rules 8.3). Returns the void order; throws CanNotCancelTransaction,
 * and ValidationError for more than is left.
 */
export const voidTransactionAmount =
  (services: MerchantServices): MerchantOperation<'voidTransactionAmount'> =>
  (context, { params, body }) =>
    captureOrVoid(services, context, { kind: 'void', ...params, ...body });
