import { findReceiverCheck } from '../../src/db/webhooks/receiver-checks';
import { ServiceError } from '../../src/errors';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentReceiverCheck } from '../present/receiver-check';

/** A check of the project's receiver (rules 27.7). Throws NotFound, and Unauthorized for one of another project. */
export const getReceiverCheck =
  ({ db }: Pick<MerchantServices, 'db'>): MerchantOperation<'getReceiverCheck'> =>
  async ({ caller }, { params: { check_id } }) => {
    const check = await findReceiverCheck(db, check_id);
    if (check === undefined) throw new ServiceError('NotFound', 'The receiver check does not exist.');
    if (check.project_id !== caller.project.id) {
      throw new ServiceError('Unauthorized', 'The API key is of another project.');
    }
    return presentReceiverCheck(check);
  };
