import { Worker as Thread } from 'node:worker_threads';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';
import type { ThreadSettings } from './workflow-thread';

/**
 * Lets the workers that are created from now on run workflows in `workflow-thread.ts` instead of in the SDK's thread,
 * which has no option for what we change. `entry`: the compiled file.
 */
export function useWorkflowThreads(call_stacks: boolean, entry = require.resolve('./workflow-thread')): void {
  ThreadedVMWorkflowCreator.create = async ({ threadPoolSize, logger, patchActivationCallback, ...init }) => {
    const workerData: ThreadSettings = { call_stacks, limit_ms: init.isolateExecutionTimeoutMs };
    const clients = Array.from(
      { length: threadPoolSize },
      () => new WorkerThreadClient(new Thread(entry, { workerData }), logger, patchActivationCallback),
    );
    const input = {
      ...init,
      // Node takes undefined as no limit of its own for each call into the sandbox.
      isolateExecutionTimeoutMs: undefined as never,
      hasPatchActivationCallback: patchActivationCallback !== undefined,
    };
    await Promise.all(clients.map((client) => client.send({ type: 'init', ...input })));
    return new ThreadedVMWorkflowCreator(clients);
  };
}
