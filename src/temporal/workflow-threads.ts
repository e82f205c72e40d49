import { Worker as Thread } from 'node:worker_threads';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';
import type { ThreadSettings } from './workflow-thread';

/** A thread, with the instants of the requests that it has not answered. */
class WatchedThread extends WorkerThreadClient {
  private readonly waiting = new Set<{ since: number }>();

  override async send(...args: Parameters<WorkerThreadClient['send']>): ReturnType<WorkerThreadClient['send']> {
    const request = { since: performance.now() };
    this.waiting.add(request);
    threads.add(this);
    try {
      return await super.send(...args);
    } finally {
      this.waiting.delete(request);
      if (this.waiting.size === 0) threads.delete(this);
    }
  }

  /** Milliseconds since the oldest of them, by the machine's monotonic clock. */
  get silentFor(): number {
    const [oldest] = this.waiting;
    return oldest === undefined ? 0 : performance.now() - oldest.since;
  }
}

/** The threads of this process with an unanswered request. */
const threads = new Set<WatchedThread>();

/**
 * For how long the slowest workflow thread of this process has not answered a request, in milliseconds; 0: none is
 * busy. An activation takes milliseconds, and is interrupted after five seconds.
 */
export function workflowThreadSilence(): number {
  return Math.max(0, ...[...threads].map(({ silentFor }) => silentFor));
}

/**
 * Lets the workers that are created from now on run workflows in `workflow-thread.ts` instead of in the SDK's thread,
 * which has no option for what we change. `entry`: the compiled file.
 */
export function useWorkflowThreads(call_stacks: boolean, entry = require.resolve('./workflow-thread')): void {
  ThreadedVMWorkflowCreator.create = async ({ threadPoolSize, logger, patchActivationCallback, ...init }) => {
    const workerData: ThreadSettings = { call_stacks, limit_ms: init.isolateExecutionTimeoutMs };
    const clients = Array.from(
      { length: threadPoolSize },
      () => new WatchedThread(new Thread(entry, { workerData }), logger, patchActivationCallback),
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
