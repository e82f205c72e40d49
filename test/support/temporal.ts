import path from 'node:path';
import type { Context } from '@temporalio/activity';
import { IllegalStateError } from '@temporalio/common';
import {
  DefaultLogger,
  type NativeConnection,
  Worker,
  type ActivityExecuteInput,
  type WorkerOptions,
} from '@temporalio/worker';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { createActivities } from '../../activities';
import type { ActivityServices } from '../../activities/services';
import { parseConfig } from '../../src/config';
import { createLogger } from '../../src/log';
import { activityCauses } from '../../src/temporal/activity-causes';
import { clientOf, dataConverter } from '../../src/temporal/connect';
import { quietRuntime as installQuietRuntime } from '../../src/temporal/replay';
import { repositoryRoot } from '../../src/stack/files';
import { createProgress } from '../../src/stack/progress';
import { temporalTool } from '../../src/stack/servers/temporal';
import { findTool } from '../../src/stack/tools/find-tool';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { useWorkflowThreads } from '../../src/temporal/workflow-threads';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { AttemptLimits } from '../../src/webhook/attempt-limits';
import { postWebhook } from '../../src/webhook/post';
import { TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../workflows/messages';
import * as searchAttributes from '../../workflows/search-attributes';
import { createTestDatabase, secrets } from './database';
import { runProcessor } from './processor';
import { addSearchAttributes, inNamespace } from './temporal-client';

export type WorkflowEnvironment = Awaited<ReturnType<typeof createWorkflowEnvironment>>;

export const errorsOnly = new DefaultLogger('ERROR');

/** The search index of a world that searches nothing. */
const EMPTY_INDEX: ActivityServices['index'] = {
  documents: async () => [],
  async *orderIds() {},
  count: async () => 0,
};

/** Temporal's native core tells only of errors of its own. There is one for all test files of a jest worker. */
export function quietTestRuntime(): void {
  try {
    installQuietRuntime();
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** The SDK gives the server five seconds to start, which a busy machine may need for another: it is started again. */
async function startServer(
  options: { events_max?: number; namespace?: string },
  give_up = performance.now() + 120_000,
): Promise<TestWorkflowEnvironment> {
  const { events_max, namespace } = options;
  if (namespace !== undefined) {
    const { TEMPORAL_ADDRESS: address } = await inNamespace(namespace);
    return await TestWorkflowEnvironment.createFromExistingServer({ address, namespace });
  }
  try {
    return await (events_max === undefined ? startTimeSkippingServer() : startDevServer(events_max));
  } catch (error) {
    if (performance.now() > give_up) throw error;
    return await startServer(options, give_up);
  }
}

async function startTimeSkippingServer(): Promise<TestWorkflowEnvironment> {
  const env = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: process.env['TEMPORAL_TEST_SERVER_PATH'] ?? '' } },
  });
  await addSearchAttributes(env.client);
  return env;
}

/** Temporal's command line tool, which also is its dev server. */
export async function temporalCommand(): Promise<string> {
  const { TEMPORAL_CLI_PATH, TOOLS_DIR } = parseConfig(process.env);
  return await findTool(temporalTool(TEMPORAL_CLI_PATH), {
    tools_dir: TOOLS_DIR,
    progress: createProgress(),
    signal: new AbortController().signal,
  });
}

/** Suggests a new run to a workflow whose history has so many events, which the other server never does. */
async function startDevServer(events_max: number): Promise<TestWorkflowEnvironment> {
  const program = await temporalCommand();
  return await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: program },
      searchAttributes: Object.values(searchAttributes),
      log: { format: 'pretty', level: 'error' },
      extraArgs: [
        '--output=none',
        `--dynamic-config-value=limit.historyCount.suggestContinueAsNew=${events_max}`,
        '--dynamic-config-value=matching.autoEnableV2=true',
        // In one partition the tasks of a queue come by priority; several are served in any order.
        ...['Read', 'Write'].map((way) => `--dynamic-config-value=matching.numTaskqueue${way}Partitions=1`),
      ],
    },
  });
}

/** The bundle of the run's stack: each test file would spend seconds of the processor to build one anew. */
export async function workflowBundle(): Promise<{ codePath: string }> {
  return { codePath: await workflowBundlePath(path.join(repositoryRoot(), 'dist')) };
}

/** The client of the worker's activities, as a worker has it. */
export const workerClient = ({ client: { connection, options } }: TestWorkflowEnvironment) =>
  clientOf({ connection, namespace: options.namespace });

/**
 * Temporal's time-skipping server with a worker of ours on a database of its own; the processor is the run's real
 * simulator.
 */
export async function createWorkflowEnvironment(
  options: {
    services?: Partial<ActivityServices>;
    worker?: Partial<WorkerOptions>;
    call_stacks?: boolean;
    /** Of the test project. With it there is a worker of webhooks. */
    webhook_url?: string;
    /** Other task queues that need a worker beside that of payments. */
    queues?: readonly string[];
    /** Called when an activity is done, before the workflow gets its result. */
    afterActivity?: (activity: string) => Promise<void>;
    /** Real time instead, on the Temporal of the run, in a namespace of its own of this name. */
    namespace?: string;
    /** Real time instead, on a server that suggests a new run to a workflow whose history has so many events. */
    events_max?: number;
  } = {},
) {
  quietTestRuntime();
  useWorkflowThreads(options.call_stacks ?? false, path.join(repositoryRoot(), 'dist/src/temporal/workflow-thread.js'));
  const { afterActivity, webhook_url, queues = [] } = options;
  const env = await startServer(options);
  const database = await createTestDatabase(webhook_url === undefined ? {} : { webhook_url });
  const processor = runProcessor();
  const shared = {
    connection: env.nativeConnection as NativeConnection,
    namespace: env.client.options.namespace,
    workflowBundle: await workflowBundle(),
    dataConverter: dataConverter(undefined),
    activities: createActivities({
      db: database.db,
      secrets,
      processor,
      workflows: createWorkflowClients({ client: workerClient(env), db: database.db }),
      index: EMPTY_INDEX,
      postWebhook,
      attempt_limits: new AttemptLimits(),
      webhook_private_addresses: true,
      audit_margin_ms: 0,
      audit_orders_per_second: 10_000,
      operator_webhook: undefined,
      public_url: 'http://127.0.0.1:1',
      log: createLogger({ process: 'test', level: 'silent' }),
      log_requests: 'none',
      ...options.services,
    }),
    interceptors: {
      activity: [
        activityCauses,
        (context: Context) => ({
          inbound: {
            async execute(input: ActivityExecuteInput, next: (input: ActivityExecuteInput) => Promise<unknown>) {
              const result = await next(input);
              await afterActivity?.(context.info.activityType);
              return result;
            },
          },
        }),
      ],
    },
    ...options.worker,
  };
  const workers = await Promise.all(
    [TASK_QUEUE, ...(webhook_url === undefined ? [] : [WEBHOOK_TASK_QUEUE]), ...queues].map((taskQueue) =>
      Worker.create({ ...shared, taskQueue }),
    ),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    env,
    database,
    processor,
    /** Workflow time, in epoch milliseconds. */
    now: (): Promise<number> => env.currentTimeMs(),
    async close() {
      for (const worker of workers) worker.shutdown();
      await running;
      await processor.close();
      await database.close();
      await env.teardown();
    },
  };
}
