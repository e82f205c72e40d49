import type { Operation } from '../context';
import { captureOrVoid } from '../request-follow-up';
import type { Services } from '../services';

/** Voids all that is left of an authorization (rules 8.3). Returns the void order; throws CanNotCancelTransaction. */
export const voidTransaction =
  (services: Services): Operation<'voidTransaction'> =>
  (context, { params }) =>
    captureOrVoid(services, context, { kind: 'void', ...params });
