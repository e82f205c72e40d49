import { Worker as Thread } from 'node:worker_threads';
import { UnexpectedError } from '@temporalio/worker';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm';
import { messageOf } from '../errors';
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

/** The threads of one worker, which start when the first workflow needs them. */
class ThreadsOnDemand extends ThreadedVMWorkflowCreator {
  private started: Promise<void> | undefined;

  constructor(private readonly startAll: (threads: WorkerThreadClient[]) => Promise<void>) {
    super([]);
  }

  /** Starts them unless they run. Throws what ends the worker, and with it the process: another may be able to. */
  async start(): Promise<void> {
    this.started ??= this.startAll(this.workerThreadClients);
    try {
      await this.started;
    } catch (error) {
      throw new UnexpectedError(`a workflow thread could not start: ${messageOf(error)}`, error);
    }
  }

  override async createWorkflow(
    ...args: Parameters<ThreadedVMWorkflowCreator['createWorkflow']>
  ): ReturnType<ThreadedVMWorkflowCreator['createWorkflow']> {
    await this.start();
    return await super.createWorkflow(...args);
  }

  override async destroy(): Promise<void> {
    await this.started?.catch(() => undefined);
    await super.destroy();
  }
}

/**
 * Lets the workers that are created from now on run workflows in `workflow-thread.ts` instead of in the SDK's thread,
 * which has no option for what we change. `entry`: the compiled file. A thread takes memory and a third of a second of
 * CPU: only those of the worker that is created first start with it, so that workflow code that cannot be loaded fails
 * the start.
 */
export function useWorkflowThreads(call_stacks: boolean, entry = require.resolve('./workflow-thread')): void {
  let is_first = true;
  ThreadedVMWorkflowCreator.create = async ({ threadPoolSize, logger, patchActivationCallback, ...init }) => {
    const workerData: ThreadSettings = { call_stacks, limit_ms: init.isolateExecutionTimeoutMs };
    const input = {
      ...init,
      // Node takes undefined as no limit of its own for each call into the sandbox.
      isolateExecutionTimeoutMs: undefined as never,
      hasPatchActivationCallback: patchActivationCallback !== undefined,
    };
    const creator = new ThreadsOnDemand(async (threads) => {
      while (threads.length < threadPoolSize) {
        threads.push(new WatchedThread(new Thread(entry, { workerData }), logger, patchActivationCallback));
      }
      await Promise.all(threads.map((thread) => thread.send({ type: 'init', ...input })));
    });
    const is_needed_now = is_first;
    is_first = false;
    if (is_needed_now) await creator.start();
    return creator;
  };
}
