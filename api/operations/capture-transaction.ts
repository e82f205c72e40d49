import type { MerchantOperation, MerchantServices } from '../merchant';
import { captureOrVoid } from '../requests/request-follow-up';

/** Captures all that is left of an authorization (rules 8.3). Returns the capture order; throws Conflict. */
export const captureTransaction =
  (services: MerchantServices): MerchantOperation<'captureTransaction'> =>
  (context, { params }) =>
    captureOrVoid(services, context, { kind: 'capture', ...params });
