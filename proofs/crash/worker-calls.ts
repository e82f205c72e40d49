import { createRequire } from 'node:module';
import { Context } from '@temporalio/activity';
import { coresdk } from '@temporalio/proto';
import { Indexer } from '../../src/indexer/indexer';
import { numberSharedCalls, textOf } from './calls';
import { CrashPoints } from './points';

/**
 * Numbers the calls of a worker: those of the activities of a flow, what its workflows and activities answer Temporal,
 * and the batches of the search index with one of its orders.
 */
const points = new CrashPoints('worker', process.env['DATA_DIR'] ?? '');
numberSharedCalls(points);
numberActivities();
numberAnswers();
numberIndexBatches();

type Activity = (input: unknown) => Promise<unknown>;

/** The run and task of an activity, by which its answers are known. */
const runs = new Map<string, string>();
const tasks = new Map<string, string>();

function numberActivities(): void {
  const activities = require('../../activities/index') as {
    createActivities: (services: unknown) => Record<string, Activity>;
  };
  const { createActivities } = activities;
  activities.createActivities = (services) =>
    Object.fromEntries(
      Object.entries(createActivities(services)).map(([name, run]) => [
        name,
        async (input: unknown) => {
          const { info } = Context.current();
          const { workflowId, runId } = info.workflowExecution ?? { workflowId: '', runId: '' };
          const text = `${workflowId} ${JSON.stringify(input)}`;
          const flow = points.find(text);
          if (flow !== undefined) {
            runs.set(runId, text);
            if (!info.isLocal) tasks.set(Buffer.from(info.taskToken).toString('base64'), text);
          }
          return await points.work.run({ flow, text: () => text }, () => run(input));
        },
      ]),
    );
}

type NativeCall = (place: unknown, message: never) => Promise<unknown>;

/** What the native core sends: tasks that are done, and calls through the connection that polls. */
function numberAnswers(): void {
  // A package of Temporal's worker.
  const bridge = createRequire(require.resolve('@temporalio/worker'))('@temporalio/core-bridge') as unknown;
  const { native } = bridge as { native: Record<string, NativeCall> };
  const instead = (name: string, of: (message: never) => { what: string; text: string } | undefined, own: boolean) => {
    const call = native[name]!;
    native[name] = async (place, message) => {
      const named = of(message);
      if (named === undefined) return await call(place, message);
      return own
        ? await points.around(named, () => call(place, message), points.find(named.text))
        : await points.around(named, () => call(place, message));
    };
  };
  instead('workerCompleteWorkflowActivation', workflowTask, true);
  instead('workerCompleteActivityTask', activityTask, true);
  instead(
    'clientSendWorkflowServiceRequest',
    ({ rpc, req }: { rpc: string; req: Uint8Array }) => ({ what: `Temporal: ${rpc}`, text: textOf(req) }),
    false,
  );
}

/** The end of a workflow task: an activation that only asks for local activities sends nothing. */
function workflowTask(message: Uint8Array): { what: string; text: string } | undefined {
  const { runId, successful } = coresdk.workflow_completion.WorkflowActivationCompletion.decodeDelimited(message);
  const commands = (successful?.commands ?? []).map(
    (command) => coresdk.workflow_commands.WorkflowCommand.create(command).variant ?? '',
  );
  const sent = commands.filter((command) => !['scheduleLocalActivity', 'requestCancelLocalActivity'].includes(command));
  const text = runs.get(runId);
  if (text === undefined || sent.length === 0 || sent.length < commands.length) return undefined;
  return { what: `Temporal: workflow task with ${[...new Set(sent)].toSorted().join(', ')}`, text };
}

/** The end of an activity; a local one sends nothing. */
function activityTask(message: Uint8Array): { what: string; text: string } | undefined {
  const { taskToken } = coresdk.ActivityTaskCompletion.decodeDelimited(message);
  const text = tasks.get(Buffer.from(taskToken).toString('base64'));
  return text === undefined ? undefined : { what: 'Temporal: activity task', text };
}

function numberIndexBatches(): void {
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    const what = `search: ${init?.method ?? 'GET'} ${new URL(address).pathname}`;
    return await points.around({ what, text: '', is_read: init?.method === undefined }, () => fetch(input, init));
  };
  const prototype = Indexer.prototype as unknown as {
    writeChanges: (holder: string, names: unknown, changes: unknown) => Promise<number>;
  };
  const { writeChanges } = prototype;
  prototype.writeChanges = function (this: unknown, holder, names, changes) {
    if (!points.with_index) return writeChanges.call(this, holder, names, changes);
    const text = JSON.stringify(changes);
    return points.work.run({ of: 'indexer', text: () => text }, () => writeChanges.call(this, holder, names, changes));
  };
}
