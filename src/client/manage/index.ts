import type { RequestOpts } from '@oazapfts/runtime';
import { baseOf, connection } from '../connection.js';

export { HttpError, ok } from '@oazapfts/runtime';
export * from './api.js';

interface TokenAnswer {
  access_token?: string;
  error?: string;
  error_description?: string;
}

/**
 * The bearer-token host, as the last argument of every operation, with a token for the client that is good for an hour.
 * Throws when the host gives none.
 */
export async function manager({
  url,
  client_id,
  client_secret,
}: {
  url: string;
  client_id: string;
  client_secret: string;
}): Promise<RequestOpts> {
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'payments/.default' };
  const answer = await fetch(`${baseOf(url)}/common/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token, error, error_description } = (await answer.json()) as TokenAnswer;
  if (access_token === undefined) throw new Error(`no token: ${error ?? answer.status} ${error_description ?? ''}`);
  return connection(url, `Bearer ${access_token}`);
}
