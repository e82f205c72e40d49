import type { Operation } from '../context';
import { followTransaction } from '../follow-transaction';
import type { Services } from '../services';

/** Captures all that is left of an authorization (specification, Capture). Answers the capture order; throws Conflict. */
export const captureTransaction =
  (services: Services): Operation<'captureTransaction'> =>
  (context, { params }) =>
    followTransaction(services, context, { kind: 'capture', ...params });
