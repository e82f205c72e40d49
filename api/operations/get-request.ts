import { findLoggedRequest } from '../../src/db/requests/logged-requests';
import { ServiceError } from '../../src/errors';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentLoggedRequest } from '../present/logged-request';

/** A request of the project by its id (rules 25.3). Throws NotFound, and Unauthorized for one of another project. */
export const getRequest =
  ({ db }: Pick<MerchantServices, 'db'>): MerchantOperation<'getRequest'> =>
  async ({ caller }, { params: { request_id } }) => {
    const found = await findLoggedRequest(db, request_id);
    if (found === undefined) {
      throw new ServiceError('NotFound', 'The request is not in the log; it appears a few seconds after its answer.');
    }
    if (found.project_id !== caller.project.id) {
      throw new ServiceError('Unauthorized', 'The API key is of another project.');
    }
    return presentLoggedRequest(found);
  };
