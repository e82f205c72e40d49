import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { createLogger } from '../../src/log';
import { connectTemporal } from '../../src/temporal/connect';
import { orderWorkflowId } from '../../workflows/messages';
import { stack, type RunningStack } from './stack';
import { until } from './waits';

/** A connection to the Temporal of a stack, as an operator has one. Close it with `connection.close()`. */
export function temporalOf(
  { temporal_address: address, temporal_namespace: namespace, payload_keys }: RunningStack = stack(),
): Client {
  const log = createLogger({ process: 'test', level: 'silent' });
  return connectTemporal({ address, namespace, payload_keys, log });
}

/** As months do: the order's workflow is gone from Temporal, with its history. */
export async function deleteWorkflow(order_id: string): Promise<void> {
  const client = temporalOf();
  const workflowId = orderWorkflowId(order_id);
  try {
    // Of this run: recovery may start another of an order that is not closed.
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    const handle = client.workflow.getHandle(workflowId, runId);
    await handle.terminate('long ago').catch(() => undefined);
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
    });
    await until(
      `${workflowId} is forgotten`,
      () =>
        handle.describe().then(
          () => false,
          () => true,
        ),
      150_000,
    );
  } finally {
    await client.connection.close();
  }
}

type Payload = temporal.api.common.v1.IPayload;

/** Every payload of a history of Temporal, wherever it is. */
export function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}
