import { createProcessorClient, type Processor } from '../../src/processor/client';
import { stack, type RunningStack } from './stack';

/** A client of a stack's processor, or of the run's. Close it. */
export function runProcessor(timeout_ms = 6_000, on: RunningStack = stack()): Processor {
  return createProcessorClient({ url: on.simulator_url, key: on.processor_key, timeout_ms });
}

/** What the customer does on the issuer's page: `code` 0101 passes and 3333 fails, `action: cancel` gives up. */
export const answerIssuer = (challenge_url: string, form: Record<string, string>): Promise<Response> =>
  fetch(challenge_url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
