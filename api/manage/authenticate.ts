import type { Database } from '../../src/db/query';
import { findOAuthClient } from '../../src/db/projects/oauth-clients';
import { ServiceError } from '../../src/errors';
import type { Manager } from './manager';
import type { Tokens } from './tokens';

/** Longer than any token; nothing longer is looked at. */
const TOKEN_LENGTH_MAX = 4_096;

/**
 * Checks the header Authorization: Bearer with an access token (rules 21.4). The client is looked up at each request,
 * so a revoked one is refused at once, and its role is that of the record. Rejects with Unauthorized.
 */
export function authenticateByToken({ db, tokens }: { db: Database; tokens: Tokens }) {
  return async (header: string | undefined): Promise<Manager> => {
    const now = Date.now();
    const client_id = await tokens.clientOf(tokenOf(header), now);
    const client = await findOAuthClient(db, client_id, new Date(now));
    if (client === undefined) throw new ServiceError('Unauthorized', 'The client was revoked.');
    const { role, merchant_id } = client;
    return {
      id: client_id,
      log: { client_id },
      actor: { kind: 'client', id: client_id },
      role,
      ...(merchant_id !== null && { merchant_id }),
    };
  };
}

function tokenOf(header: string | undefined): string {
  if (header === undefined) throw new ServiceError('Unauthorized', 'The header Authorization is missing.');
  const [, token] = (header.length <= TOKEN_LENGTH_MAX && /^Bearer +([\w-]+\.[\w-]+\.[\w-]*) *$/i.exec(header)) || [];
  if (token === undefined) {
    throw new ServiceError('Unauthorized', 'Expected the header Authorization: Bearer, with an access token.');
  }
  return token;
}
