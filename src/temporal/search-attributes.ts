import type { Client } from '@temporalio/client';
import { ATTENTION, ORDER_STATUS, PAYMENT_LINK_STATUS, PROJECT_ID, RELATED_ORDER_ID } from '../../workflows/messages';

/** Search attributes that workflows write and the namespace does not have. Rejects when Temporal does not answer. */
export async function missingSearchAttributes(client: Client): Promise<string[]> {
  const { namespace } = client.options;
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return [ATTENTION, ORDER_STATUS, PAYMENT_LINK_STATUS, PROJECT_ID, RELATED_ORDER_ID]
    .map(({ name }) => name)
    .filter((name) => !Object.hasOwn(customAttributes ?? {}, name));
}
