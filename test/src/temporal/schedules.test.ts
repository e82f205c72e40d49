import { describeCheck } from '../../../workflows/search-index-check';
import type { SearchIndexCheck } from '../../../activities/search-index';
import { makeSchedules } from '../../../src/temporal/schedules';
import { temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

const client = temporalOf();
afterAll(() => client.connection.close());

const handle = client.schedule.getHandle('search-index-check');

test('a worker makes the schedules, and a later one keeps what an operator has paused', async () => {
  const { spec } = await handle.describe();
  expect(spec.calendars).toMatchObject([{ hour: [{ start: 3, end: 3 }], minute: [{ start: 0 }], comment: 'daily' }]);
  await handle.pause('a test');
  await Promise.all([makeSchedules(client, 'a build'), makeSchedules(client, 'a build')]);
  const described = await handle.describe();
  expect([described.state.paused, described.state.note, described.spec]).toEqual([true, 'a test', spec]);
  expect(described.action.staticDetails).toBe('Scheduled by build a build');
  await handle.unpause();
});

test('a run of the check ends with what it found, as result and in words', async () => {
  await handle.trigger();
  const workflow = await until('the schedule has started the workflow', async () => {
    const { recentActions, runningActions } = (await handle.describe()).info;
    return recentActions.at(-1)?.action.workflow ?? runningActions.at(-1)?.workflow;
  });
  const run = client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId);
  const check = (await run.result()) as SearchIndexCheck;
  expect(check).toMatchObject({ missing: 0, different: 0, unknown: 0, refused: 0 });
  const { currentDetails } = await run.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
  expect(currentDetails).toBe(describeCheck(check));
});
