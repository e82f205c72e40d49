import { setTimeout as sleep } from 'node:timers/promises';
import { stack } from './stack';

/**
 * In a run that kills its worker, what the service could not answer is sent again, as merchants and customers do: with
 * its Idempotency-Key or, as nothing was stored then, without one.
 */
const { fetch } = globalThis;
globalThis.fetch = async (input, init) => {
  for (;;) {
    const answer = await fetch(input, init);
    const again = answer.status === 503 && answer.headers.has('retry-after') && answer.url.startsWith(stack().api_url);
    if (!again) return answer;
    await sleep(1_000 * Number(answer.headers.get('retry-after')));
  }
};
