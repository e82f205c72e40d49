import { Context } from '@temporalio/activity';

/** A call of an activity with much to do works for about this long, then its workflow calls it again. Milliseconds. */
const PART_MS = 20_000;

/**
 * Takes steps of the activity's work, a heartbeat with these details after each, until one answers that nothing is left
 * to do or about twenty seconds are over. Throws between two steps once the activity is cancelled.
 */
export async function workForAPart(step: () => Promise<boolean>, details?: () => object): Promise<void> {
  const context = Context.current();
  const began = performance.now();
  let goes_on = true;
  while (goes_on && performance.now() - began < PART_MS) {
    context.cancellationSignal.throwIfAborted();
    goes_on = await step();
    context.heartbeat(details?.());
  }
}
