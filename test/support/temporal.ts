import path from 'node:path';
import { IllegalStateError } from '@temporalio/common';
import {
  DefaultLogger,
  type NativeConnection,
  Runtime,
  Worker,
  makeTelemetryFilterString,
  type WorkerOptions,
} from '@temporalio/worker';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { createActivities } from '../../activities';
import type { Services } from '../../activities/services';
import { createLogger } from '../../src/log';
import { createProcessor, type Processor } from '../../src/processor/client';
import { dataConverter } from '../../src/temporal/connect';
import { repositoryRoot } from '../../src/stack/files';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { createWorkflows } from '../../src/temporal/workflows';
import { postWebhook } from '../../src/webhook/post';
import { TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../workflows/messages';
import * as searchAttributes from '../../workflows/search-attributes';
import { createTestDatabase, type TestDatabase } from './database';
import { stack } from './stack';

/**
 * Temporal's time-skipping server with a worker of ours on a database of its own; the processor is the run's real
 * simulator.
 */
export interface WorkflowEnvironment {
  env: TestWorkflowEnvironment;
  database: TestDatabase;
  processor: Processor;
  /** Workflow time, in epoch milliseconds. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export const errorsOnly = new DefaultLogger('ERROR');

/** The search index of a world that searches nothing. */
const EMPTY_INDEX: Services['index'] = { documents: async () => [], async *orderIds() {}, count: async () => 0 };

/** As the wire of Temporal numbers the type of a search attribute. */
const KEYWORD = 2;

/** Temporal's native core tells only of errors of its own. There is one for all test files of a jest worker. */
export function quietRuntime(): void {
  try {
    Runtime.install({
      logger: errorsOnly,
      telemetryOptions: {
        logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} },
      },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** The SDK gives the server five seconds to start, which a busy machine may need for another. */
async function startServer(tries = 3): Promise<TestWorkflowEnvironment> {
  try {
    return await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: process.env['TEMPORAL_TEST_SERVER_PATH'] ?? '' } },
    });
  } catch (error) {
    if (tries <= 1) throw error;
    return await startServer(tries - 1);
  }
}

/**
 * The bundle of the run's stack: to build one takes seconds of the processor, which each test file would spend anew.
 */
export async function workflowBundle(): Promise<{ codePath: string }> {
  return { codePath: await workflowBundlePath(path.join(repositoryRoot(), 'dist')) };
}

export async function createWorkflowEnvironment(
  options: { services?: Partial<Services>; worker?: Partial<WorkerOptions>; webhook_url?: string } = {},
): Promise<WorkflowEnvironment> {
  quietRuntime();
  const env = await startServer();
  await env.connection.operatorService.addSearchAttributes({
    namespace: env.namespace ?? 'default',
    searchAttributes: Object.fromEntries(Object.values(searchAttributes).map(({ name }) => [name, KEYWORD])),
  });
  const database = await createTestDatabase(
    options.webhook_url === undefined ? {} : { webhook_url: options.webhook_url },
  );
  const processor = createProcessor({ url: stack().simulator_url, key: stack().processor_key, timeout_ms: 6_000 });
  const shared = {
    connection: env.nativeConnection as NativeConnection,
    workflowBundle: await workflowBundle(),
    dataConverter: dataConverter(undefined),
    activities: createActivities({
      db: database.db,
      processor,
      workflows: createWorkflows({ client: env.client, db: database.db }),
      index: EMPTY_INDEX,
      postWebhook,
      webhook_private_addresses: true,
      public_url: 'http://127.0.0.1:1',
      log: createLogger({ process: 'test', level: 'silent' }),
      ...options.services,
    }),
    ...options.worker,
  };
  const workers = await Promise.all(
    [TASK_QUEUE, WEBHOOK_TASK_QUEUE].map((taskQueue) => Worker.create({ ...shared, taskQueue })),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    env,
    database,
    processor,
    now: () => env.currentTimeMs(),
    async close() {
      for (const worker of workers) worker.shutdown();
      await running;
      await processor.close();
      await database.close();
      await env.teardown();
    },
  };
}
