import { temporal } from '@temporalio/proto';
import { replayHistories } from '../../src/temporal/replay';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { quietRuntime } from '../../test/support/temporal';
import type { Invariant, WorkflowHistory } from './invariant';

const { WorkflowTaskFailedCause } = temporal.api.enums.v1;

/** Tasks that the worker failed. One that another event came before is made again. */
const failedTasks = ({ workflow_id, history }: WorkflowHistory) =>
  (history.events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed == null || failed.cause === WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
      ? []
      : [`a task of ${workflow_id} has failed: ${failed.failure?.message ?? failed.cause}`],
  );

export const replay: Invariant = {
  name: 'replay',
  title: 'Every workflow history replays with the code that wrote it, and none of its tasks has failed.',
  async violations({ histories }) {
    quietRuntime();
    const recorded = (await histories()).map(({ workflow_id, history }) => ({ name: workflow_id, history }));
    const failures = await replayHistories({ codePath: await workflowBundlePath() }, recorded);
    return [
      ...Object.entries(failures).map(([workflow_id, why]) => `the history of ${workflow_id} does not replay: ${why}`),
      ...(await histories()).flatMap(failedTasks),
    ];
  },
};
