import { ScheduleAlreadyRunning, ScheduleNotFoundError, type Client, type ScheduleOptions } from '@temporalio/client';
import type { google, temporal } from '@temporalio/proto';
import {
  AUDIT_WORKFLOW,
  SEARCH_INDEX_CHECK_WORKFLOW,
  SETTLEMENTS_WORKFLOW,
  TASK_QUEUE,
} from '../../workflows/messages';
import { toIsoTime } from '../time';
import { unavailable, undefinedIfNotFound } from './call-errors';

const SETTLEMENTS = 'settlements';

/** The schedules in Temporal, in UTC, and the workflow that each starts, under its own id. */
const SCHEDULES = [
  {
    scheduleId: 'search-index-check',
    spec: { calendars: [{ hour: 3, comment: 'daily' }], jitter: '10 minutes' },
    workflow: SEARCH_INDEX_CHECK_WORKFLOW,
    summary: 'Compares the search index with the record',
  },
  {
    scheduleId: SETTLEMENTS,
    spec: { intervals: [{ every: '1 hour' }] },
    workflow: SETTLEMENTS_WORKFLOW,
    summary: 'Fetches settlements from the processor',
  },
  {
    scheduleId: 'audit',
    spec: { intervals: [{ every: '1 hour', offset: '20 minutes' }] },
    workflow: AUDIT_WORKFLOW,
    summary: 'Compares the record with the processor and the search index',
  },
] as const satisfies readonly (Pick<ScheduleOptions, 'scheduleId' | 'spec'> & { workflow: string; summary: string })[];

/** Time limit for all schedules together. Milliseconds. */
const CALL_MS = 10_000;

/**
 * Creates the schedules and, unless `only_missing`, updates those that are there; one that an operator has paused stays
 * paused. Their runs name the build that made them in their details. Safe in several processes at once.
 */
export async function makeSchedules(
  client: Client,
  build: string,
  { only_missing = false }: { only_missing?: boolean } = {},
): Promise<void> {
  await client.withDeadline(Date.now() + CALL_MS, async () => {
    for (const { scheduleId, spec, workflow, summary } of SCHEDULES) {
      const wanted = {
        spec,
        action: {
          type: 'startWorkflow',
          workflowType: workflow,
          workflowId: scheduleId,
          taskQueue: TASK_QUEUE,
          staticSummary: summary,
          staticDetails: `Scheduled by build ${build}`,
        },
        // Temporal catches up on a run missed in an outage for up to a day.
        policies: { overlap: 'SKIP', catchupWindow: '1 day' },
      } as const;
      try {
        await client.schedule.create({ scheduleId, ...wanted });
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        if (only_missing) continue;
        await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...wanted, state }));
      }
    }
  });
}

/**
 * Has settlements fetched now. A fetch that is running may have started too early, so another one follows it. Throws
 * ServiceUnavailable while no worker has created the schedule.
 */
export async function fetchSettlementsNow(client: Client): Promise<void> {
  try {
    await client.schedule.getHandle(SETTLEMENTS).trigger('BUFFER_ONE');
  } catch (error) {
    throw error instanceof ScheduleNotFoundError ? unavailable() : error;
  }
}

/** What is wrong with the schedules, and what an operator has changed about them. */
export interface ScheduleFindings {
  faults: string[];
  notes: string[];
}

/** A start may be this late: the jitter of a schedule, and a restart of Temporal. Milliseconds. */
const LATE_MS = 15 * 60_000;

/**
 * Compares the schedules in Temporal with those that workers make: each exists, is not overdue at an instant `now`
 * (epoch milliseconds), and its last run succeeded. Decrypts no payload. Rejects when Temporal does not answer.
 */
export async function inspectSchedules(client: Client, now: number): Promise<ScheduleFindings> {
  const findings: ScheduleFindings = { faults: [], notes: [] };
  const { namespace } = client.options;
  for (const { scheduleId } of SCHEDULES) {
    const found = await client.workflowService.describeSchedule({ namespace, scheduleId }).catch(undefinedIfNotFound);
    if (found === undefined) {
      findings.faults.push(`${scheduleId} does not exist`);
      continue;
    }
    const { paused, notes } = found.schedule?.state ?? {};
    if (paused) findings.notes.push(`${scheduleId} was paused by an operator${notes ? ` (${notes})` : ''}`);
    const next = (found.info?.futureActionTimes ?? []).map(instantOf);
    const is_overdue = !paused && next[0] !== undefined && next[0] < now - LATE_MS;
    if (is_overdue) findings.faults.push(`${scheduleId} has been due since ${toIsoTime(next[0]!)}`);
    // Runs do not overlap: at most the last one has no result yet.
    const runs = (found.info?.recentActions ?? []).slice(-2).toReversed();
    findings.faults.push(...(await faultsOfRuns(client, runs, now - (next[1]! - next[0]!) - LATE_MS)));
  }
  return findings;
}

/**
 * The last run when it began before an instant and has no result, and the last result when it is not success. `runs`:
 * the newest first.
 */
async function faultsOfRuns(
  client: Client,
  runs: readonly temporal.api.schedule.v1.IScheduleActionResult[],
  begun_before: number,
): Promise<string[]> {
  const faults: string[] = [];
  for (const { actualTime, startWorkflowResult } of runs) {
    const id = startWorkflowResult?.workflowId ?? '';
    const run = await client.workflow.getHandle(id).describe().catch(undefinedIfNotFound);
    if (run?.status.name === 'RUNNING') {
      const began = instantOf(actualTime ?? {});
      if (began < begun_before) faults.push(`${id} has been running since ${toIsoTime(began)}`);
      continue;
    }
    const has_failed = run !== undefined && run.status.name !== 'COMPLETED';
    if (has_failed) faults.push(`the last run ${id} ended as ${run.status.name.toLowerCase()}`);
    break;
  }
  return faults;
}

/** Epoch milliseconds. */
const instantOf = ({ seconds }: google.protobuf.ITimestamp) => Number(seconds ?? 0) * 1_000;
