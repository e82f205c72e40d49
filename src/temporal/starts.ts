import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConnectionOptions } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

const { StartWorkflowExecutionResponse, SignalWithStartWorkflowExecutionResponse } = temporal.api.workflowservice.v1;

/** The answers that say whether the call has started a workflow, by the end of the call's path. */
const ANSWERS = {
  '/StartWorkflowExecution': StartWorkflowExecutionResponse,
  '/SignalWithStartWorkflowExecution': SignalWithStartWorkflowExecutionResponse,
};

const counted = new AsyncLocalStorage<{ started: number }>();

/** Does the work. Returns how many workflows its calls have started: not those that were running. */
export async function countStarts(work: () => Promise<void>): Promise<number> {
  const count = { started: 0 };
  await counted.run(count, work);
  return count.started;
}

/** Reads in the answer of a call whether a workflow was started, for `countStarts`. */
export const observeStarts: Interceptor = (options, nextCall) => {
  const call = nextCall(options) as ReturnType<Interceptor>;
  const count = counted.getStore();
  const { path } = options.method_definition;
  const answer = ANSWERS[path.slice(path.lastIndexOf('/')) as keyof typeof ANSWERS];
  if (count === undefined || answer === undefined) return call;
  const start = call.start.bind(call);
  call.start = (metadata, listener) =>
    start(metadata, {
      onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
      onReceiveMessage(message: Uint8Array | null | undefined) {
        // A call that failed ends with no message.
        if (message && answer.decode(message).started) count.started += 1;
        listener?.onReceiveMessage?.(message);
      },
      onReceiveStatus: (status) => listener?.onReceiveStatus?.(status),
    });
  return call;
};
