import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';

/** Search attributes that workflows write and the namespace does not have. Rejects when Temporal does not answer. */
export async function missingSearchAttributes(client: Client): Promise<string[]> {
  const { namespace } = client.options;
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return Object.values(SEARCH_ATTRIBUTES)
    .map(({ name }) => name)
    .filter((name) => !Object.hasOwn(customAttributes ?? {}, name));
}
