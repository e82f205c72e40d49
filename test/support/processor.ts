import { createProcessorClient, type Processor } from '../../src/processor/client';
import { stack, type RunningStack } from './stack';

/** A client of a stack's processor, or of the run's. Close it. */
export function runProcessor(timeout_ms = 6_000, on: RunningStack = stack()): Processor {
  return createProcessorClient({ url: on.simulator_url, key: on.processor_key, timeout_ms });
}
