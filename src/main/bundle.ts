import { workflowBundlePath } from '../temporal/workflow-bundle';

/** Builds the workflow bundle beside the compiled code, so that a worker of the image starts without doing it. */
async function main(): Promise<void> {
  await workflowBundlePath();
}

void main();
