import type { Logger } from '../../src/log';

/** How long an answer waits for Temporal, in milliseconds: recovery signals the workflow as well. */
const TELL_WORKFLOW_MS = 3_000;

/** Signals or starts a workflow after a change was written. `false` when that fails; `otherwise` is then logged. */
export async function tellWorkflow(
  log: Logger,
  otherwise: string,
  tell: (deadline_at: number) => Promise<void>,
): Promise<boolean> {
  try {
    await tell(Date.now() + TELL_WORKFLOW_MS);
    return true;
  } catch (error) {
    log.warn({ err: error }, otherwise);
    return false;
  }
}
