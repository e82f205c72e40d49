import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { historyToJson, replayHistories } from '../../src/temporal/replay';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { quietTestRuntime } from '../../test/support/temporal';
import type { HistoryInvariant, WorkflowHistory } from './invariant';

export const replay: HistoryInvariant = {
  name: 'replay',
  title: 'Every workflow history replays with the code that wrote it.',
  async violations(histories) {
    quietTestRuntime();
    const recorded = histories.map(({ workflow_id, history }) => ({ name: workflow_id, history }));
    const failures = await replayHistories({ codePath: await workflowBundlePath() }, recorded);
    return histories.flatMap((one) => {
      const why = failures[one.workflow_id];
      return why === undefined ? [] : [`the history of ${one.workflow_id} (${kept(one)}) does not replay: ${why}`];
    });
  },
};

/** Keeps a history for whoever looks for the cause: its Temporal is removed with the proof. Returns its file. */
function kept({ workflow_id, history }: WorkflowHistory): string {
  const folder = path.join(tmpdir(), 'payments-histories');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${workflow_id.replaceAll(':', '-')}.json`);
  writeFileSync(file, JSON.stringify(historyToJson(history), undefined, 2));
  return file;
}
