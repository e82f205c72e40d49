import type { RequestOpts } from '@oazapfts/runtime';
import { connection } from './connection';

export { HttpError, ok } from '@oazapfts/runtime';
export * from './api';
export * from './search';

/** A project, as the last argument of every operation: where the service is, and the key of the project. */
export function project({ url, api_key }: { url: string; api_key: string }): RequestOpts {
  return connection(url, `Basic ${btoa(`${api_key}:`)}`);
}
