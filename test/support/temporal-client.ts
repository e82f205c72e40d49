import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import type { temporal } from '@temporalio/proto';
import { createLogger } from '../../src/log';
import { connectTemporal } from '../../src/temporal/connect';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { stack, type RunningStack } from './stack';
import { until } from './waits';

/** A connection to the Temporal of a stack, as an operator has one. Close it with `connection.close()`. */
export function temporalOf(
  { temporal_address: address, temporal_namespace: namespace, payload_keys }: RunningStack = stack(),
): Client {
  const log = createLogger({ process: 'test', level: 'silent' });
  return connectTemporal({ address, namespace, payload_keys, log });
}

/** Runs `work` with a connection to the Temporal of a stack, which is closed after it. */
export async function withTemporal<T>(on: RunningStack, work: (client: Client) => Promise<T>): Promise<T> {
  const client = temporalOf(on);
  try {
    return await work(client);
  } finally {
    await client.connection.close();
  }
}

/** As the wire of Temporal numbers the type of a search attribute. */
const KEYWORD = 2;

/** Makes what workflows are searched by. */
export async function addSearchAttributes({ connection, options: { namespace } }: Client): Promise<void> {
  const searchAttributes = Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map(({ name }) => [name, KEYWORD]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

/** Makes a namespace on the Temporal of the run; the variables of a stack in it, of one that leaves Temporal alone. */
export async function inNamespace(namespace: string) {
  await withTemporal({ ...stack(), temporal_namespace: namespace }, async (client) => {
    const workflowExecutionRetentionPeriod = msToTs('1 day');
    await client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const succeeds = (call: Promise<unknown>) => call.then(Boolean, () => false);
    await until('the namespace is known', () => succeeds(client.workflow.count()));
    await addSearchAttributes(client);
    await until('its search attributes are known', () => succeeds(client.workflow.count('Attention is not null')));
  });
  return { TEMPORAL_ADDRESS: stack().temporal_address, TEMPORAL_NAMESPACE: namespace };
}

/** Temporal refuses the last task of a workflow when a message has just come; the task is then done again. */
const UNHANDLED_COMMAND = 1;

/** The failed workflow tasks of a history; `refused`: those that Temporal has had done again, as a message had come. */
export function failedTasksIn({ events }: temporal.api.history.v1.IHistory) {
  const all = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed ?? []);
  return {
    failed: all.filter(({ cause }) => cause !== UNHANDLED_COMMAND),
    refused: all.filter(({ cause }) => cause === UNHANDLED_COMMAND),
  };
}

type Payload = temporal.api.common.v1.IPayload;

/** Every payload of a history of Temporal, wherever it is. */
export function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}
