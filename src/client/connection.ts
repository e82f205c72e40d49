import type { RequestOpts } from '@oazapfts/runtime';

/** The address of a host, without a slash at its end. */
export const baseOf = (url: string): string => url.replace(/\/+$/, '');

/** A host, as its operations take it. */
export function connection(url: string, authorization: string): RequestOpts {
  return { baseUrl: baseOf(url), fetch: fetchWhole, headers: { Authorization: authorization } };
}

/**
 * Reads the whole answer before the runtime does, which takes a body that broke off for an empty one: a host closes the
 * connection in the middle of an answer that it cannot complete. Rejects then, as when the host cannot be reached.
 */
export const fetchWhole: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  const body = await answer.text();
  return new Response(body === '' ? null : body, answer);
};
