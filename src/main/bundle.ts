import { workflowBundlePath } from '../temporal/workflow-bundle';

/** Builds the workflow bundle beside the compiled code, so that workers of the image start without building it. */
async function main(): Promise<void> {
  await workflowBundlePath();
}

void main();
