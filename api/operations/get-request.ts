import { findLoggedRequest } from '../../src/db/requests/logged-requests';
import { requireOfProject, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentLoggedRequest } from '../present/logged-request';

/** A request of the project by its id (rules 25.3). Throws NotFound, and Unauthorized for one of another project. */
export const getRequest =
  ({ db }: Pick<MerchantServices, 'db'>): MerchantOperation<'getRequest'> =>
  async ({ caller }, { params: { request_id } }) => {
    const found = await findLoggedRequest(db, request_id);
    const missing = 'The request is not in the log; it appears a few seconds after its answer.';
    return presentLoggedRequest(requireOfProject(caller, found, missing));
  };
