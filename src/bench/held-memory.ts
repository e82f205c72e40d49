import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A route that only the benchmark's api process has. */
export const MEMORY_PATH = '/bench/memory/';

/** Answers with the bytes that this process holds after a garbage collection, buffers included. */
export function answerHeldMemory(_request: unknown, response: ServerResponse): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  response.end(JSON.stringify({ bytes: heapUsed + external }));
}
