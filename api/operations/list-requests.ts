import { listLoggedRequests } from '../../src/db/requests/logged-requests';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentPage } from '../present/format';
import { presentLoggedRequest } from '../present/logged-request';

/** The requests of the project, newest first (rules 25.3). */
export const listRequests =
  ({ bulk }: Pick<MerchantServices, 'bulk'>): MerchantOperation<'listRequests'> =>
  async ({ caller, signal }, { query: { limit, cursor, ...filter } }) => {
    const { id } = caller.project;
    return presentPage(
      await bulk.read(id, (db) => listLoggedRequests(db, id, filter, { limit, cursor }), signal),
      presentLoggedRequest,
    );
  };
