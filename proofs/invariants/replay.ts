import type { temporal } from '@temporalio/proto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { historyToJson, replayHistories } from '../../src/temporal/replay';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { quietTestRuntime } from '../../test/support/temporal';
import type { HistoryInvariant, HistoryOptions, WorkflowHistory } from './invariant';

export const replay: HistoryInvariant = {
  name: 'replay',
  title: 'Every workflow history replays with the code that wrote it.',
  async violations(histories, { onLostTask }) {
    quietTestRuntime();
    // A workflow may have several runs, of which one replays and another does not.
    const recorded = histories.map(({ run_id, history }) => ({ name: run_id, history }));
    const bundle = { codePath: await workflowBundlePath() };
    const shares = Array.from({ length: REPLAYS_AT_ONCE }, (_, share) =>
      recorded.filter((_one, n) => n % REPLAYS_AT_ONCE === share),
    );
    const failed = await Promise.all(shares.map((share) => replayHistories(bundle, share)));
    return violationsIn(histories, Object.assign({}, ...failed) as Record<string, string>, onLostTask);
  },
};

/** The runs that failed, by their ids, without those whose task Temporal has lost: these are told. */
export function violationsIn(
  histories: readonly WorkflowHistory[],
  failures: Readonly<Record<string, string>>,
  onLostTask: HistoryOptions['onLostTask'],
): string[] {
  return histories.flatMap((one) => {
    const why = failures[one.run_id];
    if (why === undefined) return [];
    if (onLostTask !== undefined && hasLostTask(one)) {
      onLostTask(one);
      return [];
    }
    return [`the history of ${one.workflow_id}, run ${one.run_id} (${kept(one)}), does not replay: ${why}`];
  });
}

/** Each replays its share, one history after another. */
const REPLAYS_AT_ONCE = 2;

/**
 * Whether a local activity of the workflow was begun after one recorded task had ended and before the next one, which
 * records it, began: the worker carried it out in a task that Temporal kept in memory and lost.
 */
export function hasLostTask({ history }: Pick<WorkflowHistory, 'history'>): boolean {
  let ended_at = Number.NEGATIVE_INFINITY;
  let between = { from: ended_at, to: ended_at };
  for (const {
    eventTime,
    workflowTaskStartedEventAttributes: started,
    workflowTaskCompletedEventAttributes: completed,
    markerRecordedEventAttributes: marker,
  } of history.events ?? []) {
    if (started != null) between = { from: ended_at, to: millisecondsOf(eventTime!) };
    if (completed != null) ended_at = millisecondsOf(eventTime!);
    const data = marker?.markerName === 'core_local_activity' ? marker.details?.['data']?.payloads?.[0]?.data : null;
    if (data == null) continue;
    const { original_schedule_time } = JSON.parse(Buffer.from(data).toString()) as { original_schedule_time: Instant };
    const begun_at = millisecondsOf(original_schedule_time);
    if (begun_at > between.from && begun_at < between.to) return true;
  }
  return false;
}

type Instant = temporal.api.history.v1.IHistoryEvent['eventTime'] & {};

const millisecondsOf = ({ seconds, nanos }: Instant) => Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000;

/** Keeps a history for whoever looks for the cause: its Temporal is removed with the proof. Returns its file. */
function kept({ workflow_id, run_id, history }: WorkflowHistory): string {
  const folder = path.join(tmpdir(), 'payments-histories');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${workflow_id.replaceAll(':', '-')}-${run_id}.json`);
  writeFileSync(file, JSON.stringify(historyToJson(history), undefined, 2));
  return file;
}
