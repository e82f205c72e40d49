import { WorkflowClient } from '@temporalio/client';

/**
 * Gives the workflows that this process starts workflow tasks of one second instead of ten: a local activity outlasts
 * its task after 0.8 seconds. `createStartWorkflowRequest` is protected.
 */
interface Creates {
  createStartWorkflowRequest: (this: unknown, input: unknown) => Promise<{ workflowTaskTimeout?: { seconds: number } }>;
}

const client = WorkflowClient.prototype as unknown as Creates;
const create = client.createStartWorkflowRequest;
client.createStartWorkflowRequest = async function createWithShortTasks(input) {
  return { ...(await create.call(this, input)), workflowTaskTimeout: { seconds: 1 } };
};
