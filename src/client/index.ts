import type { RequestOpts } from '@oazapfts/runtime';
import { connection } from './connection.js';

export { HttpError, ok } from '@oazapfts/runtime';
export * from './api.js';
export * from './search.js';

/** A project, as the last argument of every operation: where the service is, and the key of the project. */
export function project({ url, api_key }: { url: string; api_key: string }): RequestOpts {
  return connection(url, `Basic ${btoa(`${api_key}:`)}`);
}
