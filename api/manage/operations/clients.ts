import { randomBytes, randomUUID } from 'node:crypto';
import type { SqlTransaction } from '../../../src/db/query';
import { findMerchant } from '../../../src/db/projects/merchants';
import {
  findOAuthClient,
  insertOAuthClient,
  listOAuthClients,
  revokeOAuthClient,
  rollClientSecret,
  type OAuthClient,
} from '../../../src/db/projects/oauth-clients';
import { overlapEnd } from '../../../src/domain/duration';
import { ServiceError, validationError } from '../../../src/errors';
import { presentPage } from '../../present/format';
import type { ManageOperations, ManageServices } from '../manager';
import { audited, changeOf } from '../../requests/audited';
import { authorOf } from '../../requests/author';
import { presentClient } from '../present';

/** Random, 256 bits: a fast hash of it gives nothing away. */
export const newClientSecret = () => `cs_${randomBytes(32).toString('base64url')}`;

/** Operations on OAuth clients (rules 21.13). */
export function clientOperations(services: ManageServices) {
  const { db, secrets } = services;

  return {
    listClients: async (_context, { query }) =>
      presentPage(await listOAuthClients(db, new Date(), query), presentClient),

    createClient: async (context, { body: { name, role, merchant_id = null } }) => {
      if (role === 'operator' && merchant_id !== null) {
        throw validationError('merchant_id', 'An operator has no merchant.');
      }
      if (role === 'merchant' && merchant_id === null) {
        throw validationError('merchant_id', 'This field is required for the role merchant.');
      }
      return audited(services, authorOf(context), async (trx, now) => {
        if (merchant_id !== null && !(await findMerchant(trx, merchant_id))) {
          throw validationError('merchant_id', 'The merchant does not exist.');
        }
        const [client_id, client_secret] = [randomUUID(), newClientSecret()];
        await insertOAuthClient(trx, { client_id, name, role, merchant_id }, secrets.hash(client_secret), now);
        const after = presentClient(await existing(trx, client_id, now));
        const change = changeOf('client.create', { id: client_id, merchant_id }, { after });
        return { answer: { ...after, client_secret }, change };
      });
    },

    rollClient: async (context, { params: { client_id }, body: { overlap = 'PT0S' } }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const client = await existing(trx, client_id, now, 'lock');
        const client_secret = newClientSecret();
        const expires = overlapEnd(overlap, now);
        await rollClientSecret(trx, client_id, secrets.hash(client_secret), expires);
        const after = presentClient(await existing(trx, client_id, now));
        const before = presentClient(client);
        const change = changeOf('client.roll', { ...client, id: client_id }, { before, after });
        return { answer: { ...after, client_secret }, change };
      }),

    revokeClient: async (context, { params: { client_id } }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const client = await existing(trx, client_id, now, 'lock');
        await revokeOAuthClient(trx, client_id, now);
        const before = presentClient(client);
        return { answer: null, change: changeOf('client.revoke', { ...client, id: client_id }, { before }) };
      }),
  } satisfies Partial<ManageOperations>;
}

async function existing(trx: SqlTransaction, client_id: string, now: Date, lock?: 'lock'): Promise<OAuthClient> {
  const client = await findOAuthClient(trx, client_id, now, lock);
  if (client === undefined) throw new ServiceError('NotFound', 'The client does not exist.');
  return client;
}
