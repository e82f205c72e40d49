import type { Operation } from '../context';
import { captureOrVoid } from '../request-follow-up';
import type { Services } from '../services';

/** Captures all that is left of an authorization (rules 8.3). Returns the capture order; throws Conflict. */
export const captureTransaction =
  (services: Services): Operation<'captureTransaction'> =>
  (context, { params }) =>
    captureOrVoid(services, context, { kind: 'capture', ...params });
