import { findReceiverCheck } from '../../src/db/webhooks/receiver-checks';
import { requireOfProject, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentReceiverCheck } from '../present/receiver-check';

/** A check of the project's receiver (rules 27.7). Throws NotFound, and Unauthorized for one of another project. */
export const getReceiverCheck =
  ({ db }: Pick<MerchantServices, 'db'>): MerchantOperation<'getReceiverCheck'> =>
  async ({ caller }, { params: { check_id } }) => {
    const check = await findReceiverCheck(db, check_id);
    return presentReceiverCheck(requireOfProject(caller, check, 'The receiver check does not exist.'));
  };
