import type { MerchantOperation, MerchantServices } from '../merchant';
import { captureOrVoid } from '../requests/request-follow-up';

/** Voids all that is left of an authorization (rules 8.3). Returns the void order; throws CanNotCancelTransaction. */
export const voidTransaction =
  (services: MerchantServices): MerchantOperation<'voidTransaction'> =>
  (context, { params }) =>
    captureOrVoid(services, context, { kind: 'void', ...params });
