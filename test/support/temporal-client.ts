import type { Client } from '@temporalio/client';
import { createLogger } from '../../src/log';
import { connectTemporal } from '../../src/temporal/connect';
import { stack, type RunningStack } from './stack';

/** A connection to the Temporal of a stack, as an operator has one. Close it with `connection.close()`. */
export function temporalOf(
  { temporal_address: address, temporal_namespace: namespace, payload_keys }: RunningStack = stack(),
): Client {
  const log = createLogger({ process: 'test', level: 'silent' });
  return connectTemporal({ address, namespace, payload_keys, log });
}
