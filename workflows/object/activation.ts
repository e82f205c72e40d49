import { condition } from '@temporalio/workflow';

/**
 * The order in which a workflow handles what one activation delivers: first signals, timers and activities, then
 * updates, then the results of local activities that outlasted their workflow task. A replay, or a worker that lost its
 * cache, may get together what came in several activations, or apart what came in one; the workflow has to schedule the
 * same activities in the same order.
 */

/** Upper limit of waits in a row that one event can resolve. */
const WAITS_IN_A_ROW = 5;

/** Resolves when the workflow has handled the signals, timers and activities of this activation. */
export async function afterEvents(): Promise<void> {
  for (let n = 0; n < WAITS_IN_A_ROW; n += 1) await nextLook();
}

/** Resolves when the workflow has handled the updates of this activation too. */
export async function afterUpdates(): Promise<void> {
  await afterEvents();
  await afterEvents();
}

/**
 * Resolves when the SDK next looks at the conditions of the workflow, which it does once nothing else is left to run.
 */
async function nextLook(): Promise<void> {
  let looks = 0;
  await condition(() => (looks += 1) > 1);
}
