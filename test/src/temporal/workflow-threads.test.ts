import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { WorkflowFailedError } from '@temporalio/client';
import { UnexpectedError } from '@temporalio/worker';
import { ThreadedVMWorkflowCreator } from '@temporalio/worker/lib/workflow/threaded-vm';
import { pino } from 'pino';
import { repositoryRoot } from '../../../src/stack/files';
import { WorkerLiveness } from '../../../src/temporal/worker-liveness';
import { buildWorkflowBundle } from '../../../src/temporal/workflow-bundle';
import { useWorkflowThreads } from '../../../src/temporal/workflow-threads';
import { TASK_QUEUE } from '../../../workflows/messages';
import { setUp } from '../../support/set-up';
import { createWorkflowEnvironment, errorsOnly } from '../../support/temporal';
import { until } from '../../support/waits';

/** Written to a file, so that the bundle has nothing else. */
const WORKFLOWS = `const { ApplicationFailure, defineQuery, setHandler } = require('@temporalio/workflow');
exports.fails = async () => { throw ApplicationFailure.nonRetryable('a bug'); };
exports.waits = () => {
  setHandler(defineQuery('loops'), () => { for (;;); });
  setHandler(defineQuery('stands still'), () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  setHandler(defineQuery('returns'), () => 42);
  return new Promise(() => undefined);
};
`;

const bundle = setUp(async () => {
  // Below the packages that the workflows import.
  const folder = mkdtempSync(path.join(repositoryRoot(), 'dist', 'workflows-'));
  try {
    const file = path.join(folder, 'written.js');
    writeFileSync(file, WORKFLOWS);
    return await buildWorkflowBundle(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** What starts workflows in a world of its own. */
function setUpStart(call_stacks: boolean) {
  const worker = { workflowBundle: bundle, isolateExecutionTimeout: '2s' } as const;
  const world = setUp(() =>
    createWorkflowEnvironment({ namespace: `call-stacks-${call_stacks}`, call_stacks, worker }),
  );
  return (workflow: string) =>
    world.env.client.workflow.start(workflow, { workflowId: randomUUID(), taskQueue: TASK_QUEUE });
}

/**
 * Its first task is done: a query that is sent with it and fails would fail the task, and be asked again with the next.
 */
async function startWaiting(start: ReturnType<typeof setUpStart>) {
  const handle = await start('waits');
  expect(await handle.query('returns')).toBe(42);
  return handle;
}

describe('without call stacks', () => {
  const start = setUpStart(false);

  it('the stack of an error names the source file', async () => {
    const failed = (await start('fails')).result();
    const error = await failed.then(undefined, (thrown: WorkflowFailedError) => thrown.cause);
    expect(error).toMatchObject({ message: 'a bug', stack: expect.stringMatching(/written\.js:2:/) as string });
  });

  it('an endless loop is interrupted, and the worker goes on', async () => {
    const handle = await startWaiting(start);
    await expect(handle.query('loops')).rejects.toThrow('Encoded failure');
    expect(await handle.query('returns')).toBe(42);
    await handle.terminate();
  });

  it('the Call Stack tab fails', async () => {
    const handle = await startWaiting(start);
    await expect(handle.query('__stack_trace')).rejects.toThrow('Encoded failure');
    await handle.terminate();
  });

  it('rules 24.6: a thread that stands still makes its worker not live, with the cause in the answer and in the log, until it goes on', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line) => void lines.push(line) });
    const readMetrics = () => Promise.reject(new Error('not needed'));
    const liveness = new WorkerLiveness(
      { log, readMetrics, pingTemporal: () => Promise.resolve() },
      { polls_ms: 600_000, thread_ms: 1_000, look_every_ms: 200 },
    );
    liveness.start();
    const handle = await startWaiting(start);
    expect(liveness.problem()).toBeUndefined();
    const standing = handle.query('stands still').catch(String);
    const cause = await until('it is not live', () => liveness.problem());
    expect(cause).toMatch(/^a workflow thread has not answered for \d+ s$/);
    expect(await standing).toContain('Encoded failure');
    expect(liveness.problem()).toBeUndefined();
    await until('the log has both', () => lines.length === 2);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { msg: 'the worker is not live', cause: expect.stringMatching(/^a workflow thread/) as string },
      { msg: 'the worker is live again' },
    ]);
    await liveness.stop();
    await handle.terminate();
  });
});

describe('with call stacks', () => {
  const start = setUpStart(true);

  it('the Call Stack tab shows where a workflow waits', async () => {
    const handle = await startWaiting(start);
    expect(await handle.query<string>('__stack_trace')).toMatch(/interceptors\.ts:\d+/);
    await handle.terminate();
  });
});

/** Notes its start, and answers every request: with an error where there is a file `broken`. */
const THREAD = `const { appendFileSync, existsSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
appendFileSync(__dirname + '/started', '.');
const failed = { type: 'error', name: 'Error', message: 'broken', stack: '' };
const result = () => existsSync(__dirname + '/broken') ? failed : { type: 'ok' };
parentPort.on('message', ({ requestId, input }) =>
  parentPort.postMessage({ requestId, result: input.type === 'destroy' ? { type: 'ok' } : result() }));
`;

describe('of several workers in a process', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'threads-'));
  const workers: ThreadedVMWorkflowCreator[] = [];
  beforeAll(async () => {
    writeFileSync(path.join(folder, 'thread.js'), THREAD);
    useWorkflowThreads(false, path.join(folder, 'thread.js'));
    type Options = Parameters<typeof ThreadedVMWorkflowCreator.create>[0];
    const options = { threadPoolSize: 1, isolateExecutionTimeoutMs: 1_000, logger: errorsOnly } as unknown as Options;
    while (workers.length < 3) workers.push(await ThreadedVMWorkflowCreator.create(options));
  });
  afterAll(async () => {
    for (const worker of workers) await worker.destroy();
    rmSync(folder, { recursive: true });
  });

  const started = () => readFileSync(path.join(folder, 'started'), 'utf8').length;
  const workflow = { info: { unsafe: {}, runId: 'a run' } } as Parameters<
    ThreadedVMWorkflowCreator['createWorkflow']
  >[0];

  it('only the first starts its thread at once, the others with their first workflow', async () => {
    expect(started()).toBe(1);
    await Promise.all([workers[1]!.createWorkflow(workflow), workers[1]!.createWorkflow(workflow)]);
    expect(started()).toBe(2);
  });

  it('a thread that cannot start ends its worker, which does not fail one workflow after the other', async () => {
    writeFileSync(path.join(folder, 'broken'), '');
    const failure = await workers[2]!.createWorkflow(workflow).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnexpectedError);
    expect(failure).toHaveProperty('message', 'a workflow thread could not start: broken');
  });
});
