import type { Operation } from '../context';
import { followTransaction } from '../follow-transaction';
import type { Services } from '../services';

/** Voids a part of an authorization (specification, Void a partial amount). Answers the void order; throws CanNotCancelTransaction, and ValidationError for more than is left. */
export const voidTransactionAmount =
  (services: Services): Operation<'voidTransactionAmount'> =>
  (context, { params, body }) =>
    followTransaction(services, context, { kind: 'void', ...params, ...body });
