import { temporal } from '@temporalio/proto';
import { replayHistories } from '../../src/temporal/replay';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { quietRuntime } from '../../test/support/temporal';
import type { Invariant, WorkflowHistory } from './invariant';

const { WorkflowTaskFailedCause } = temporal.api.enums.v1;

/** Tasks that failed because the code did something else than the history has. A task of a stopped worker may time out. */
const wrongTasks = ({ workflow_id, history }: WorkflowHistory) =>
  (history.events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed?.cause === WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR
      ? [`a task of ${workflow_id} was not deterministic`]
      : [],
  );

export const replay: Invariant = {
  name: 'replay',
  title: 'Every workflow history replays with the code that wrote it, and all its tasks were deterministic.',
  async violations({ histories }) {
    quietRuntime();
    const recorded = (await histories()).map(({ workflow_id, history }) => ({ name: workflow_id, history }));
    const failures = await replayHistories({ codePath: await workflowBundlePath() }, recorded);
    return [
      ...Object.entries(failures).map(([workflow_id, why]) => `the history of ${workflow_id} does not replay: ${why}`),
      ...(await histories()).flatMap(wrongTasks),
    ];
  },
};
