import vm from 'node:vm';
import { workerData } from 'node:worker_threads';
import { ReusableVMWorkflow } from '@temporalio/worker/lib/workflow/reusable-vm';
import { BaseVMWorkflow, globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

/** What the worker tells its workflow threads. */
export interface ThreadSettings {
  /** Whether the Call Stack tab of the Web UI works, which doubles the CPU time of workflow code. */
  call_stacks: boolean;
  /** Milliseconds that one activation of a workflow may run. */
  limit_ms: number;
}

/**
 * The thread in which a worker runs its workflows: the SDK's own with two changes that make it cheaper (figures in
 * BENCHMARKS.md). test/src/temporal/workflow-threads.test.ts fails if a new SDK no longer has what is changed here.
 */
const { call_stacks, limit_ms } = workerData as ThreadSettings;

// For the Call Stack tab the SDK keeps the stack of every promise. Stacks of errors do not need it.
if (!call_stacks) globalHandlers['setPromiseHook'] = () => undefined;

const global = globalThis as typeof globalThis & { __activate?: () => void };
const activateWithinLimit = new vm.Script('__activate()');

/**
 * The SDK limits each call into the sandbox, of which an activation makes about four, and for each limit Node starts
 * and joins a thread. One limit around the activation interrupts the same endless loops, and fails the task alike.
 */
ReusableVMWorkflow.prototype.activate = async function (this: ReusableVMWorkflow, activation) {
  let completion: ReturnType<ReusableVMWorkflow['activate']> | undefined;
  // All workflow code has run when it returns its promise.
  global.__activate = () => {
    completion = BaseVMWorkflow.prototype.activate.call(this, activation);
  };
  try {
    activateWithinLimit.runInThisContext({ timeout: limit_ms });
  } catch (error) {
    return { runId: this.runId, failed: { failure: this['activator'].errorToFailure(error) } };
  }
  return await completion!;
};

require('@temporalio/worker/lib/workflow/workflow-worker-thread');
