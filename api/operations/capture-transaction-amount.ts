import type { MerchantOperation, MerchantServices } from '../merchant';
import { captureOrVoid } from '../requests/request-follow-up';

/**
 * Captures a part of an authorization (rules 8.3). Returns the capture order; throws Conflict, and ValidationError for
 * more than is left.
 */
export const captureTransactionAmount =
  (services: MerchantServices): MerchantOperation<'captureTransactionAmount'> =>
  (context, { params, body }) =>
    captureOrVoid(services, context, { kind: 'capture', ...params, ...body });
