import {
  NativeConnection,
  Runtime,
  Worker,
  makeTelemetryFilterString,
  type LogLevel,
  type LogMetadata,
  type Logger as SdkLogger,
  type WorkerDeploymentOptions,
  type WorkerOptions,
} from '@temporalio/worker';
import { PROCESSOR_CALLS, createActivities } from '../../activities/index';
import type { ActivityServices, OperatorWebhook } from '../../activities/services';
import { serveHealth } from '../../api/http/health-server';
import type { Probe } from '../../api/http/health';
import { SANDBOX_CLOCK_TASK_QUEUE, TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../workflows/messages';
import { STOP_LIMITS_MS, requireSetting, retentionDays, type Config, type WorkerRole } from '../config';
import type { Build } from '../db/builds/current-build';
import { checkWritable } from '../db/connection';
import type { HttpServer } from '../http-server';
import type { Logger } from '../log';
import { SecretKeys } from '../secrets';
import { activityCauses } from '../temporal/activity-causes';
import { clientOf, dataConverter, pingTemporal } from '../temporal/connect';
import { credentialsOf } from '../temporal/credentials';
import { deploymentOf } from '../temporal/deployment';
import { limitLocalCalls } from '../temporal/local-calls';
import { sdkMetrics } from '../temporal/sdk-metrics';
import { WorkerLiveness } from '../temporal/worker-liveness';
import { useWorkflowThreads } from '../temporal/workflow-threads';
import { createWorkflowClients } from '../temporal/workflows';
import { isTracing } from '../tracing/tracing';
import { ATTEMPT_TASKS_AT_ONCE, AttemptLimits } from '../webhook/attempt-limits';
import { postWebhook } from '../webhook/post';
import { tracedAttempts } from '../webhook/trace-attempts';
import { SearchWriter } from '../search/writer';
import { buildOfService } from './build';
import { openDatabase, openProcessor, openTemporal, searchServer, publicUrl } from './connections';
import { Keeper } from './keeper';
import { startMetrics } from './metrics';
import { OwnVersion } from './own-version';
import { announcePayloadKey } from './payload-key-use';
import type { Started } from './process';
import { FigureReader } from '../recovery/figures';

/** Opens what the worker needs and polls. `bundle_path`: the workflows it runs, bundled. */
export async function runWorker(config: Config, log: Logger, bundle_path: string): Promise<Started> {
  const sdk_metrics = await sdkMetrics();
  const metrics = await startMetrics(config, log, 'worker', () => sdk_metrics.read());
  const address = requireSetting(config, 'TEMPORAL_ADDRESS');
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
      metrics: sdk_metrics.options,
    },
    logger: loggerFor(log),
  });
  useWorkflowThreads(config.WORKFLOW_CALL_STACKS);
  const db = await openDatabase(config);
  const processor = openProcessor(config, log);
  const client = openTemporal(config, log, db);
  const endKeyUse = await announcePayloadKey(config, db, log);
  const workflows = createWorkflowClients({ client, db });
  const index = new SearchWriter(searchServer(config));
  const connection = await NativeConnection.connect({
    address,
    ...credentialsOf(config),
    // Payloads are encrypted, and do not get smaller.
    grpcCompression: { codec: 'none' },
  });
  const polled = {
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    dataConverter: dataConverter(requireSetting(config, 'PAYLOAD_KEYS')),
  };
  const build = buildOfService(config);
  const workers = await createWorkers(config, polled, bundle_path, build, {
    db,
    secrets: new SecretKeys(requireSetting(config, 'SECRET_KEYS')),
    processor,
    workflows: createWorkflowClients({
      client,
      db,
      worker_client: clientOf(polled),
      // Started eagerly, a workflow begins on the version of this worker.
      starts_eagerly: config.DEPLOYMENT_VERSIONING !== 'operator',
    }),
    index,
    postWebhook: isTracing() ? tracedAttempts(postWebhook) : postWebhook,
    attempt_limits: new AttemptLimits(),
    webhook_private_addresses: config.WEBHOOK_PRIVATE_ADDRESSES,
    audit_margin_ms: config.AUDIT_MARGIN_SECONDS * 1_000,
    audit_orders_per_second: config.AUDIT_ORDERS_PER_SECOND,
    operator_webhook: operatorWebhook(config),
    public_url: publicUrl(config),
    log,
    log_requests: config.LOG_REQUESTS,
  });
  const runs = workers.map((worker) => worker.run());
  const running = Promise.all(runs);
  const is_versioned = config.DEPLOYMENT_VERSIONING !== 'off';
  const keeper = new Keeper({
    db,
    client,
    workflows,
    index,
    log,
    build,
    is_versioned,
    retention: retentionDays(config),
  });
  const figures = new FigureReader(db, () => keeper.isHolder);
  const own_version =
    config.DEPLOYMENT_VERSIONING === 'automatic'
      ? new OwnVersion({
          db,
          deployment: deploymentOf(config, client),
          log,
          build,
          bundle_path,
          dataConverter: polled.dataConverter,
        })
      : undefined;
  // Before the process is ready: without a current version no new workflow begins.
  await own_version?.makeCurrent();
  if (config.WORKER_ROLES.includes('keeper')) {
    await keeper.start();
    if (metrics !== undefined) figures.start();
  }
  const liveness = new WorkerLiveness({
    log,
    readMetrics: () => sdk_metrics.read(),
    pingTemporal: () => pingTemporal(client),
  });
  // A keeper alone polls nothing.
  if (workers.length > 0) liveness.start();
  let closing = false;
  // A worker that fails for good ends the process: the supervisor starts another.
  running.catch((err: unknown) => {
    if (closing) return;
    log.fatal({ err }, 'the worker failed');
    process.exit(1);
  });
  const probes: Probe[] = [
    { name: 'worker', required: true, check: () => Promise.resolve(expectRunning(workers)) },
    { name: 'postgres', required: true, check: () => checkWritable(db) },
    { name: 'temporal', required: true, check: () => pingTemporal(client) },
  ];
  const health = await serveWorkerHealth(config, log, probes, () =>
    workers.length > 0 ? liveness.problem() : undefined,
  );
  log.info({ roles: config.WORKER_ROLES, task_queues: workers.map(({ options }) => options.taskQueue) }, 'worker runs');
  return {
    async close() {
      closing = true;
      await health?.close();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      // Each alone: while one gives up its tasks, another may still need the connections.
      const ended = Promise.all(
        runs.map((run) => run.catch((err: unknown) => log.warn({ err }, 'some tasks were not finished'))),
      );
      await Promise.all([figures.stop(), liveness.stop(), keeper.stop(), own_version?.stop(), ended]);
      await endKeyUse();
      await client.connection.close();
      await connection.close();
      await processor.close();
      await db.destroy();
      await metrics?.close();
    },
  };
}

/** Where events about incidents go. Throws an Error when the secret that signs them is missing. */
function operatorWebhook(config: Config): OperatorWebhook | undefined {
  const { OPERATOR_WEBHOOK_URL: url } = config;
  return url === undefined ? undefined : { url, secret: requireSetting(config, 'OPERATOR_WEBHOOK_SECRET') };
}

/** Workflow tasks of orders, follow-ups and payment links for which a worker has slots, however slow the processor is. */
const OTHER_TASKS_AT_ONCE = 50;

/** The slots of a worker of each task queue, and the role that polls it. */
function queuesOf({
  CHARGES_AT_ONCE,
}: Config): readonly { role: WorkerRole; options: Partial<WorkerOptions> & { taskQueue: string } }[] {
  const workflow_tasks = CHARGES_AT_ONCE + OTHER_TASKS_AT_ONCE;
  return [
    {
      role: 'payments',
      options: {
        taskQueue: TASK_QUEUE,
        // A slot is held during a charge, which is mostly waiting.
        maxConcurrentWorkflowTaskExecutions: workflow_tasks,
        // Each of these tasks runs one at a time.
        maxConcurrentLocalActivityExecutions: workflow_tasks,
        // Polls of the processor, and calls of it beyond CHARGES_AT_ONCE.
        maxConcurrentActivityTaskExecutions: 500,
        maxCachedWorkflows: 1_000,
      },
    },
    {
      role: 'webhooks',
      options: {
        taskQueue: WEBHOOK_TASK_QUEUE,
        maxConcurrentWorkflowTaskExecutions: 100,
        maxConcurrentActivityTaskExecutions: ATTEMPT_TASKS_AT_ONCE,
        maxCachedWorkflows: 200,
      },
    },
    {
      role: 'payments',
      // Advances of sandbox clocks read many rows: only a few run at a time, to leave connections and CPU to payments.
      options: {
        taskQueue: SANDBOX_CLOCK_TASK_QUEUE,
        maxConcurrentWorkflowTaskExecutions: 4,
        maxConcurrentActivityTaskExecutions: 4,
        maxConcurrentLocalActivityExecutions: 4,
        maxCachedWorkflows: 100,
      },
    },
  ];
}

/** A worker for each task queue of the roles of this process. */
async function createWorkers(
  config: Config,
  polled: Pick<WorkerOptions, 'connection' | 'namespace' | 'dataConverter'>,
  bundle_path: string,
  build: Build,
  services: ActivityServices,
): Promise<Worker[]> {
  const shared = {
    ...polled,
    workflowBundle: { codePath: bundle_path },
    workerDeploymentOptions: deploymentOptions(config, build),
    activities: createActivities(services),
    interceptors: { activity: [activityCauses, limitLocalCalls(PROCESSOR_CALLS, config.CHARGES_AT_ONCE)] },
    // A killed worker still owns its workflows' queues: after this long another takes them.
    stickyQueueScheduleToStartTimeout: '5 seconds',
    shutdownGraceTime: '5 seconds',
    // Another worker repeats what was not finished by then: every step is safe to repeat.
    shutdownForceTime: STOP_LIMITS_MS.activities,
  } satisfies Partial<WorkerOptions>;
  const queues = queuesOf(config).filter(({ role }) => config.WORKER_ROLES.includes(role));
  return await Promise.all(queues.map(({ options }) => Worker.create({ ...shared, ...options })));
}

/** With versioning a workflow stays on the version that began it, unless its code says otherwise (rules 24.21). */
function deploymentOptions(config: Config, { build, version }: Build): WorkerDeploymentOptions {
  const deploymentName = config.TEMPORAL_DEPLOYMENT_NAME;
  return config.DEPLOYMENT_VERSIONING !== 'off'
    ? {
        version: { deploymentName, buildId: version },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      }
    : // Shown with its polls, for doctor. Tasks go to the workers of any build.
      { version: { deploymentName, buildId: build }, useWorkerVersioning: false };
}

/** Answers health checks where a port is configured (rules 24.6). */
async function serveWorkerHealth(
  config: Config,
  log: Logger,
  probes: Probe[],
  problem: () => string | undefined,
): Promise<HttpServer | undefined> {
  const { WORKER_HEALTH_HOST: host, WORKER_HEALTH_PORT: port } = config;
  if (port === undefined) return undefined;
  const server = await serveHealth(probes, log, { host, port, problem });
  log.info({ health_url: server.url }, 'worker answers health checks');
  return server;
}

/** Throws unless each polls its task queue. */
function expectRunning(workers: readonly Worker[]): void {
  for (const worker of workers) {
    const state = worker.getState();
    if (state !== 'RUNNING') throw new Error(`a worker is ${state}`);
  }
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/**
 * The SDK's lines in our log. It reports the start and end of every workflow and activity, so lines below our level are
 * skipped early.
 */
function loggerFor(log: Logger): SdkLogger {
  const write = (level: LogLevel) => (message: string, meta?: LogMetadata) => {
    if (log.isLevelEnabled(LEVELS[level])) log[LEVELS[level]]({ ...meta }, message);
  };
  return {
    log: (level, message, meta) => write(level)(message, meta),
    trace: write('TRACE'),
    debug: write('DEBUG'),
    info: write('INFO'),
    warn: write('WARN'),
    error: write('ERROR'),
  };
}
