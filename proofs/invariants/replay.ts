import { replayHistories } from '../../src/temporal/replay';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { quietTestRuntime } from '../../test/support/temporal';
import type { HistoryInvariant } from './invariant';

export const replay: HistoryInvariant = {
  name: 'replay',
  title: 'Every workflow history replays with the code that wrote it.',
  async violations(histories) {
    quietTestRuntime();
    const recorded = histories.map(({ workflow_id, history }) => ({ name: workflow_id, history }));
    const failures = await replayHistories({ codePath: await workflowBundlePath() }, recorded);
    return Object.entries(failures).map(
      ([workflow_id, why]) => `the history of ${workflow_id} does not replay: ${why}`,
    );
  },
};
