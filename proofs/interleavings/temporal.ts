import { WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import type { Sandbox } from './sandbox';

interface Named {
  name: string;
}
interface StartOptions {
  workflowId: string;
  args: unknown[];
}

/** The part of Temporal's client that src/temporal uses, on the workflows of a sandbox. */
export function sandboxClientOf(sandbox: Sandbox): Client {
  const update = async (id: string, { name }: Named, args: unknown[]) => {
    const instance = sandbox.get(id);
    if (instance === undefined) throw sandbox.notFound(id);
    try {
      return await instance.receive(name, args);
    } catch (error) {
      if (sandbox.isNotFound(error)) throw error;
      throw new WorkflowUpdateFailedError('refused', error as Error);
    }
  };
  const signal = (id: string, { name }: Named) => {
    const instance = sandbox.get(id);
    if (instance === undefined) throw sandbox.notFound(id);
    // What becomes of it is the workflow's affair.
    instance.receive(name, []).catch(() => undefined);
  };
  const workflow = {
    async start(type: string, { workflowId, args }: StartOptions) {
      await sandbox.turn(`start of a ${type}`);
      sandbox.start(type, workflowId, args[0]);
    },
    async signalWithStart(type: string, options: StartOptions & { signal: Named }) {
      await sandbox.turn(`start of a ${type}`);
      sandbox.start(type, options.workflowId, options.args[0]);
      signal(options.workflowId, options.signal);
      await sandbox.turn('the answer to it');
    },
    async executeUpdateWithStart(
      definition: Named,
      { startWorkflowOperation: start, args = [] }: { startWorkflowOperation: Start; args?: unknown[] },
    ) {
      await sandbox.turn(`start of a ${start.workflowTypeOrFunc}`);
      sandbox.start(start.workflowTypeOrFunc, start.options.workflowId, start.options.args[0]);
      return await update(start.options.workflowId, definition, args);
    },
    getHandle: (id: string) => ({
      signal: async (definition: Named) => {
        await sandbox.turn(`${definition.name} arrives`);
        signal(id, definition);
        await sandbox.turn('the answer to it');
      },
      executeUpdate: async (definition: Named, { args = [] }: { args?: unknown[] } = {}) => {
        await sandbox.turn(`${definition.name} arrives`);
        return await update(id, definition, args);
      },
      // The sandbox keeps no outcomes of updates: a refund that was refused is decided again here.
      getUpdateHandle: () => ({ result: () => Promise.reject(sandbox.notFound(id)) }),
    }),
  };
  const client = { workflow, withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() };
  return client as unknown as Client;
}

interface Start {
  workflowTypeOrFunc: string;
  options: StartOptions;
}
